#include <fmt/format.h>
#include <lessons/lab/bench/gpu_check_report.h>
#include <lessons/lab/report/write_file.h>
#include <tinymp/base/error.h>
#include <tinymp/base/sha256.h>
#include <tinymp/train/provenance.h>
#include <tinymp/train/run_log.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

namespace tinymp::lab::gpu_check {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json as_json(const Finding& finding, double seconds) {
  return {{"state", word_for(finding.state)}, {"summary", finding.summary}, {"seconds", seconds},
          {"date", train::utc_now()},         {"table", finding.table},     {"data", finding.data},
          {"commit", train::build_commit()}};
}

/// SHA-256 over the sources of library and kernels, names and texts: the same wherever the tree lies, and without
/// git.
std::string sources_hash() {
  const fs::path root(TINYMP_SOURCE_DIR);
  std::map<std::string, std::string> texts;
  std::error_code failed;
  for (const char* const folder : {"kernels", "tinymp"}) {
    for (fs::recursive_directory_iterator i(root / folder, failed), end; !failed && i != end;
         i.increment(failed)) {
      if (!i->is_regular_file(failed)) continue;
      std::ifstream in(i->path(), std::ios::binary);
      texts[fs::relative(i->path(), root, failed).generic_string()] = {std::istreambuf_iterator<char>(in),
                                                                       {}};
    }
  }
  std::string all;
  for (const auto& [name, text] : texts) all += concat(name, '\0', text.size(), '\0', text);
  return texts.empty() ? "unknown" : sha256(all).substr(0, 16);
}

/// What the figures belong to. While it stays the same, a finished part is not run again.
constexpr std::array key = {"device", "architecture", "sources"};

/// A line of Catch2 has bars.
std::string in_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

std::string markdown(const Json& report, std::span<const Part> parts, const char* mark = "#") {
  std::string text = fmt::format(
      "{} {}\n\n{}, driver for CUDA {}, runtime {}, commit {}, sources {}, {}. Made by `./learn "
      "gpu-check`.\n",
      mark, report.value("device", ""), report.value("architecture", ""), report.value("driver", ""),
      report.value("runtime", ""), report.value("commit", ""), report.value("sources", ""),
      report.value("date", ""));
  for (const Part& part : parts) {
    text += fmt::format("\n{}# {}\n\n", mark, part.title);
    if (!report["parts"].contains(part.name)) {
      text += "Not run.\n";
      continue;
    }
    const Json& done = report["parts"][part.name];
    text += fmt::format("{}: {}. ({}, commit {}, driver {})\n", done["state"].get<std::string>(),
                        done["summary"].get<std::string>(), done.value("date", ""), done.value("commit", ""),
                        done.value("driver", ""));
    if (done.contains("before"))
      text += fmt::format("Before that, {}: {}\n", done["before"].value("date", ""),
                          done["before"].value("summary", ""));
    bool head = true;
    for (const Json& row : done["table"]) {
      text += head ? "\n|" : "|";
      for (const Json& cell : row) text += fmt::format(" {} |", in_cell(cell.get<std::string>()));
      text += "\n";
      if (!head) continue;
      text += "|";
      for (std::size_t i = 0; i < row.size(); ++i) text += i == 0 ? " --- |" : " ---: |";
      text += "\n";
      head = false;
    }
  }
  if (report.contains("earlier"))
    for (const Json& earlier : report["earlier"]) text += "\n" + markdown(earlier, parts, "##");
  return text;
}

}  // namespace

const char* word_for(State state) {
  return state == State::good       ? "good"
         : state == State::bad      ? "BAD"
         : state == State::left_out ? "left out"
                                    : "not ended";
}

bool has_ended(const Json& done) {
  const std::string state = done.value("state", "");
  return state == word_for(State::good) || state == word_for(State::left_out);
}

std::string file_name(const std::string& device) {
  std::string name;
  for (const char c : device) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return name;
}

Json heading(const kernels::bench::Machine& machine) {
  return {{"device", machine.name},          {"architecture", concat("sm_", machine.architecture)},
          {"driver", machine.driver},        {"runtime", machine.runtime},
          {"commit", train::build_commit()}, {"compiler", train::compiler_name()},
          {"sources", sources_hash()}};
}

namespace {

/// A file that is no report may hold figures that somebody can still read.
void move_aside(const fs::path& path) {
  std::error_code none_is_there;
  const fs::path aside = path.string() + ".damaged";
  if (!fs::exists(path, none_is_there)) return;
  fs::rename(path, aside, none_is_there);
  if (!none_is_there)
    std::cerr << "gpu-check: " << path.string() << " is damaged; it is now " << aside.string()
              << ", and the report begins anew\n";
}

bool is_report(const Json& json) {
  return json.is_object() && json.contains("parts") && json.at("parts").is_object() &&
         json.contains("device") && json.at("device").is_string();
}

}  // namespace

Json read_report(const fs::path& path, const Json& head) {
  std::ifstream in(path);
  Json report = Json::parse(in, nullptr, false);
  if (!is_report(report)) {
    move_aside(path);
    report = head;
  }
  const auto same = [&](const char* name) {
    return report.value(name, "") == head.value(name, "") && head.value(name, "") != "unknown";
  };
  if (!std::ranges::all_of(
          key, same)) {  // time on a GPU is dear: figures of other kernels stay, under their heading
    Json earlier = report.value("earlier", Json::array());
    report.erase("earlier");
    earlier.insert(earlier.begin(), report);
    report = head;
    report["earlier"] = std::move(earlier);
  }
  for (const auto& field : head.items()) report[field.key()] = field.value();
  if (!report.contains("parts")) report["parts"] = Json::object();
  return report;
}

Json record(const fs::path& path, const Json& head, std::span<const Part> parts, const Part& part,
            const Finding& finding, double seconds) {
  Json report = read_report(path, head);
  const Json before = report["parts"].value(part.name, Json::object());
  Json& done = report["parts"][part.name] = as_json(finding, seconds);
  for (const char* const name : {"driver", "runtime", "compiler"}) done[name] = head.value(name, "");
  if (!has_ended(done) && has_ended(before))
    done["before"] = before;
  else if (!has_ended(done) && before.contains("before"))
    done["before"] = before["before"];
  report["date"] = train::utc_now();
  std::error_code said_below;
  fs::create_directories(path.parent_path(), said_below);
  report::write_whole(path.string(), report.dump(1) + "\n", "the report");
  report::write_whole(fs::path(path).replace_extension(".md").string(), markdown(report, parts),
                      "the report");
  return report["parts"][part.name];
}

}  // namespace tinymp::lab::gpu_check
