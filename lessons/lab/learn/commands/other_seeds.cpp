#include <fmt/format.h>
#include <lessons/lab/learn/commands/kept_log.h>
#include <lessons/lab/learn/commands/other_seeds.h>
#include <lessons/lab/learn/commands/side_by_side.h>
#include <lessons/lab/learn/lab.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <lessons/lab/learn/words.h>
#include <tinymp/base/error.h>
#include <tinymp/train/provenance.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// results.json of a lesson: on record, or of a run just made.
Json results_at(const fs::path& path) {
  std::ifstream in(path);
  Json results = Json::parse(in, nullptr, false);
  expect(!results.is_discarded(), "cannot read ", path.string(),
         ": ./learn verify-all --results DIR writes it");
  return results;
}

std::string seeds_of(const Json& results) {
  const std::vector<std::uint64_t> seeds = results.at("seeds");
  return seeds.size() == 1 ? fmt::format("{}", seeds.front())
                           : fmt::format("{} to {}", seeds.front(), seeds.back());
}

/// As chapters quote it, in lines of 98 columns.
std::string item(char mark, const std::string& text) {
  std::istringstream lines(fitted(text, 98 - 4));
  std::string all;
  for (std::string line; std::getline(lines, line);) all += "    " + line + "\n";
  all[2] = mark;
  return all;
}

/// The claims of all runs; the runs have the same claims in the same order.
std::string claims_of(const std::vector<Json>& all, bool& holds) {
  std::string lines;
  for (std::size_t claim = 0; claim < all.front().at("claims").size(); ++claim) {
    std::vector<std::string> sentences;
    bool holds_everywhere = true;
    for (const Json& results : all) {
      expect(results.at("claims").size() == all.front().at("claims").size(),
             "the claims on record are of another version: ./learn verify-all --results lessons renews them");
      const Json& one = results.at("claims").at(claim);
      sentences.push_back(one.at("sentence"));
      holds_everywhere = holds_everywhere && one.at("holds") == true;
    }
    std::string told = side_by_side(sentences);
    if (told.empty()) {
      for (const std::string& sentence : sentences) told += (told.empty() ? "" : "\n| ") + sentence;
    }
    lines += item(holds_everywhere ? '+' : 'x', told);
    holds = holds && holds_everywhere;
  }
  return lines;
}

/// Is the result of an earlier such call there, made by the program as it is now? Hours are not spent twice.
/// A tree with changes has no name, and is never taken for the same.
bool is_there(const fs::path& path, const std::string& command) {
  const std::string commit = train::build_commit();
  if (!fs::exists(path) || commit == "unknown" || commit.back() == '+') return false;
  const Json machine = results_at(path).at("machine");
  return machine.at("commit") == commit && machine.at("command") == command;
}

}  // namespace

std::optional<int> claims_on_other_seeds(KeptLog& log, const std::vector<std::uint64_t>& first_seeds,
                                         const std::vector<std::string>& arguments, const std::string& runs) {
  int failed = 0;
  fs::create_directories(runs);
  for (const LessonProgram& lesson : lesson_programs()) {
    const std::string name = lesson_of(lesson.number).name;
    std::vector<Json> all{results_at(chapters_folder() / name / "results.json")};
    for (const std::uint64_t first : first_seeds) {
      const std::string file = fmt::format("{}/{}-from-{}.json", runs, name, first);
      std::vector<std::string> with = arguments;
      with.insert(with.end(), {"--first-seed", std::to_string(first), "--results", file});
      if (!is_there(file, fmt::format("./learn run {} {}", lesson.number, fmt::join(with, " ")))) {
        fs::remove(file);  // of an earlier program: never taken for what this one has measured
        const int code = run(lesson, with).code;
        if (code == lacks_something) return {};
        expect(code == 0 || code == 1, "lesson ", lesson.number, " ended with exit code ", code,
               ": ./learn run ", lesson.number, " --first-seed ", first, " tells more");
      }
      all.push_back(results_at(file));
    }
    bool holds = true;
    const std::string claims = claims_of(all, holds);
    std::string seeds;
    for (const Json& results : all) seeds += (seeds.empty() ? "" : " | ") + seeds_of(results);
    log.write(fmt::format("Lesson {}: {}\n  seeds {}\n{}", lesson.number, holds ? "holds" : "DOES NOT HOLD",
                          seeds, claims));
    failed += !holds;
  }
  return failed;
}

}  // namespace tinymp::lab
