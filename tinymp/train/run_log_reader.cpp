#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/train/log_json.h>
#include <tinymp/train/run_log.h>
#include <tinymp/train/run_log_fields.h>
#include <tinymp/train/step_line.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

// Reading. A missing key leaves the default, so that older runs stay readable. A key of the wrong type, an
// unknown format or scaling, a line that is no step, or more data than a run can hold is an error that names
// file and line.
namespace tinymp::train {
namespace {

using Json = nlohmann::json;

// Limits above what tinymp writes. A log from elsewhere may exceed them: the
// reader refuses it, or cuts a text.
constexpr std::size_t longest_line = std::size_t{4} << 20;  // bytes
constexpr int most_lines = 10'000'000;
constexpr std::size_t most_findings = 100, longest_name = 120, longest_text = 4000;

std::string shown(const Json& json) {
  return excerpt(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// "none, static, ..."
std::string all_scalings() {
  std::string all;
  for (const std::string& name : scaling_names()) all += (all.empty() ? "" : ", ") + name;
  return all;
}

/// A JSON object, and the file and line that it came from.
class FromJson {
 public:
  FromJson(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    expect(json.is_object(), where_, ": not a line of a run log (a JSON object is expected)");
  }

  bool has(const char* key) const { return json_.contains(key); }
  const Json& json() const { return json_; }
  [[noreturn]] void fail(const std::string& what) const { throw Error(concat(where_, ": ", what)); }

  FromJson object(const char* key) const {
    if (!has(key)) fail(concat('"', key, "\" is missing"));
    return {json_.at(key), where_};
  }

  void operator()(const char* key, std::string& value) const {
    const Json* json = find(key, &Json::is_string);
    if (json == nullptr) return;
    const bool is_name = std::string_view(key) == "name" || std::string_view(key) == "metric";
    value = cut_to(json->get<std::string>(), is_name ? longest_name : longest_text);
  }
  void operator()(const char* key, bool& value) const {
    if (const Json* json = find(key, &Json::is_boolean)) value = json->get<bool>();
  }
  void operator()(const char* key, std::uint64_t& value) const {
    if (const Json* json = find(key, &Json::is_number_unsigned)) value = json->get<std::uint64_t>();
  }
  template <std::signed_integral Int>
  void operator()(const char* key, Int& value) const {
    const Json* json = find(key, &Json::is_number_integer);
    if (json == nullptr) return;
    const auto wide = json->get<std::int64_t>();
    const bool wrapped = json->is_number_unsigned() && wide < 0;
    if (wrapped || !std::in_range<Int>(wide)) fail(concat('"', key, "\" is out of range: ", shown(*json)));
    value = static_cast<Int>(wide);
  }
  void operator()(const char* key, double& value) const {
    if (!has(key)) return;
    const std::optional<double> number = number_from(json_.at(key));
    if (!number) fail(concat('"', key, "\" is not a number: ", shown(json_.at(key))));
    value = *number;
  }
  void operator()(const char* key, float& value) const {
    double wide = static_cast<double>(value);
    (*this)(key, wide);
    value = static_cast<float>(wide);
  }
  void operator()(const char* key, DType& value) const {
    std::string name(name_of(value));
    (*this)(key, name);
    try {
      value = dtype_from_name(name);
    } catch (const UsageError& error) {
      fail(concat('"', key, "\": ", excerpt(error.what(), 200)));
    }
  }
  void operator()(const char* key, Rounding& value) const {
    std::string name(name_of(value));
    (*this)(key, name);
    const std::optional<Rounding> named = rounding_named(name);
    if (!named) fail(concat('"', key, "\" is no rounding: ", excerpt(name)));
    value = *named;
  }
  void operator()(const char* key, ScalingChoice auto& value) const {
    std::string name(name_of(value));
    (*this)(key, name);
    if (!set_by_name(value, name)) fail(concat('"', key, "\" is no scaling of tensors: ", excerpt(name)));
  }
  void operator()(const char* key, LayerNames& names) const {
    std::string text(names.text());
    (*this)(key, text);
    if (text.size() > LayerNames::longest) fail(concat('"', key, "\" is too long: ", excerpt(text)));
    names = LayerNames::from(text);
  }
  void operator()(const char* key, ScaleFloors& floors) const {
    std::string text;
    (*this)(key, text);
    try {
      floors = scale_floors_from(text);
    } catch (const UsageError& error) {
      fail(concat('"', key, "\": ", excerpt(error.what(), 200)));
    }
  }
  void operator()(const char* key, Recipe& recipe) const { fields(recipe, object(key)); }
  void operator()(const char* key, MemoryBytes& memory) const {
    if (has(key)) fields(memory, object(key));
  }
  void operator()(const char* key, LossScaling& scaling) const {
    const FromJson inner = object(key);
    std::string kind;
    inner("kind", kind);
    const std::optional<LossScaling> named = scaling_named(kind);
    if (!named) fail(concat("unknown kind of loss scaling \"", excerpt(kind), "\" (", all_scalings(), ")"));
    scaling = *named;
    fields(scaling, inner);
  }

 private:
  const Json* find(const char* key, bool (Json::*is_right)() const noexcept) const {
    if (!has(key)) return nullptr;
    const Json& json = json_.at(key);
    if (!(json.*is_right)()) fail(concat('"', key, "\" has the wrong type: ", shown(json)));
    return &json;
  }

  const Json& json_;
  std::string where_;
};

void read_header(const FromJson& line, RunHeader& header) {
  int version = 0;
  line("tinymp_run", version);
  if (version == 0) line.fail("not a run log (its first line has no \"tinymp_run\")");
  if (version != run_log_version) {
    line.fail(concat("run log format ", version, ", but this program reads format ", run_log_version,
                     ": use the version of tinymp that wrote it"));
  }
  fields(header, line);
}

bool goes_up(const LogRecord& record, const std::vector<LogRecord>& steps) {
  return steps.empty() || record.step > steps.back().step;
}

void read_step(const FromJson& line, std::vector<LogRecord>& steps) {
  if (!line.has("step") || !line.has("loss")) line.fail("neither a logged step nor a result");
  LogRecord record;
  fields(record, line);
  sampled_fields(record, line);
  if (!goes_up(record, steps))
    line.fail(concat("step ", record.step, " after step ", steps.back().step, ": steps must go up"));
  steps.push_back(record);
}

void read_sizes(const FromJson& line, std::vector<StepSizes>& all) {
  StepSizes sizes;
  try {
    sizes = sizes_from(line.json().at("sizes"));
  } catch (const std::exception& error) {
    line.fail(concat("\"sizes\" is not what a run log has: ", excerpt(error.what(), 200)));
  }
  if (!all.empty() && sizes.step <= all.back().step) line.fail("\"sizes\": steps must go up");
  all.push_back(std::move(sizes));
}

void read_line(const FromJson& line, bool is_first, Run& run) {
  if (is_first) {
    read_header(line, run.header);
  } else if (run.result) {
    line.fail("a line after the result: two runs in one file?");
  } else if (line.has("result")) {
    const FromJson result = line.object("result");
    fields(run.result.emplace(), result);
    measured_fields(*run.result, result);
  } else if (line.has("sizes")) {
    read_sizes(line, run.sizes);
  } else if (line.has("finding")) {
    const FromJson finding = line.object("finding");
    if (run.findings.size() == most_findings) line.fail(concat("more than ", most_findings, " findings"));
    fields(run.findings.emplace_back(), finding);
    traced_fields(run.findings.back(), finding);
  } else {
    read_step(line, run.steps);
  }
}

/// A line of a file; its text is only made for a message.
struct Place {
  const std::string& path;
  int number = 1;
  std::string text() const { return concat(path, ":", number); }
};

/// Like std::getline, but throws Error when the line is too long.
bool read_text(std::istream& in, std::string& line, const Place& place) {
  std::array<char, 4096> block{};
  line.clear();
  for (;;) {
    in.getline(block.data(), block.size());
    const auto got = static_cast<std::size_t>(in.gcount());
    const bool has_end = !in.eof() && !in.fail();
    line.append(block.data(), has_end ? got - 1 : got);
    if (has_end || in.bad()) return has_end;
    if (in.eof()) return !line.empty();
    in.clear();  // the block was full
    if (line.size() > longest_line)
      throw Error(concat(place.text(), ": a line of more than ", longest_line >> 20,
                         " MB; no run of tinymp writes that"));
  }
}

/// Most lines are steps, and need no JSON parser.
bool read_plain_step(std::string_view line, const Place& place, Run& run) {
  LogRecord record;
  if (place.number == 1 || run.result || !read_step_line(line, record) || !goes_up(record, run.steps))
    return false;
  run.steps.push_back(record);
  return true;
}

/// False for a line that an interruption cut short.
bool read_json(const std::string& line, bool has_newline, const Place& place, Run& run) {
  if (is_too_deep(line))
    throw Error(concat(place.text(), ": not a line of a run log (nested more than ", deepest_json, " deep)"));
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() && !has_newline && place.number > 1) return false;
  if (json.is_discarded()) throw Error(concat(place.text(), ": not a line of a run log (not JSON)"));
  read_line({json, place.text()}, place.number == 1, run);
  return true;
}

std::ifstream open_log(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  expect(!std::filesystem::is_directory(status), "cannot read the run log ", path,
         ": it is a folder; name a file in it");
  expect(!std::filesystem::is_other(status), "cannot read the run log ", path,
         ": it is no regular file; copy what it gives into one");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  expect(in.is_open(), "cannot read the run log ", path, ": ", std::strerror(errno));
  return in;
}

}  // namespace

Run load_run(const std::string& path, std::int64_t lines) {
  std::ifstream in = open_log(path);
  Run run;
  run.path = path;
  Place place{path};
  for (std::string line; place.number - 1 <= lines && read_text(in, line, place); ++place.number) {
    if (place.number > most_lines)
      throw Error(concat(place.text(), ": more than ", most_lines, " lines; record fewer: --log-every"));
    if (read_plain_step(line, place, run)) continue;
    if (!read_json(line, !in.eof(), place, run)) break;
  }
  expect(!in.bad(), "cannot read the run log ", path, ": the disk reports an error after line ",
         place.number - 1);
  expect(place.number > 1, path, ": empty: the run ended before its first line");
  run.steps.shrink_to_fit();
  return run;
}

}  // namespace tinymp::train
