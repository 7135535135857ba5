#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <tinymp/train/log_json.h>
#include <tinymp/train/run_log_fields.h>
#include <tinymp/train/step_line.h>
#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace tinymp;
using namespace tinymp::train;

namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

/// What the JSON parser makes of a line. Every NaN counts as the same.
void check_as_parsed(const std::string& line, const LogRecord& record) {
  const nlohmann::json json = nlohmann::json::parse(line);
  std::size_t found = 0;
  const auto check = [&](const char* key, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    INFO(key << " of " << line);
    if constexpr (std::same_as<Member, double>) {
      const double usual = std::string_view(key) == "scale"  ? 1
                           : std::string_view(key) == "loss" ? 0
                                                             : not_measured;
      const double wanted = json.contains(key) ? number_from(json.at(key)).value() : usual;
      CHECK((bits(member) == bits(wanted) || (std::isnan(member) && std::isnan(wanted))));
    } else {
      CHECK(member == (json.contains(key) ? json.at(key).get<Member>() : Member{}));
    }
    found += json.contains(key) ? 1 : 0;
  };
  fields(record, check);
  sampled_fields(record, check);
  CHECK(found == json.size());
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("a step read from its line is the step that the JSON parser reads, in every log of the clinic") {
  std::size_t steps = 0, others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TINYMP_SOURCE_DIR "/lessons/clinic/runs")) {
    for (const std::string& line : lines_of(entry.path())) {
      LogRecord record;
      const bool is_step = line.starts_with("{\"step\":");
      INFO(line.substr(0, 200));
      REQUIRE(read_step_line(line, record) == is_step);
      ++(is_step ? steps : others);
      if (is_step) check_as_parsed(line, record);
    }
  }
  CHECK(steps > 500);
  CHECK(others > 20);
}

TEST_CASE("the numbers of a step are those of the JSON parser, to the last bit") {
  for (const std::string number : {"0",
                                   "1",
                                   "-1",
                                   "0.0",
                                   "-0.0",
                                   "0.1",
                                   "1e5",
                                   "1E+5",
                                   "1e-5",
                                   "2.2250738585072014e-308",
                                   "5e-324",
                                   "1.7976931348623157e308",
                                   "0.30000000000000004",
                                   "9007199254740993",
                                   "18446744073709551615",
                                   "18446744073709551616",
                                   "123456789012345678901234567890",
                                   "1.00000000000000011102230246251565",
                                   "\"nan\"",
                                   "\"inf\"",
                                   "\"-inf\""}) {
    const std::string line = "{\"step\":7,\"loss\":" + number + ",\"metric\":" + number + "}";
    LogRecord record;
    INFO(line);
    REQUIRE(read_step_line(line, record));
    check_as_parsed(line, record);
  }
  std::string line =
      R"({"loss":2.5,"lr":0.1,"skips":3,"skipped":true,"step":12,"absorbed":1,"grad_norm":0.5})";
  LogRecord record;
  REQUIRE(read_step_line(line, record));
  check_as_parsed(line, record);
  line = R"({"step":1,"loss":1,"epoch":0.25,"seconds":3,"metric":93.5,"skipped":false})";
  REQUIRE(read_step_line(line, record = {}));
  check_as_parsed(line, record);
}

TEST_CASE("a line that is not plain is left to the JSON parser") {
  for (const std::string line : {"",
                                 "{",
                                 "{}",
                                 "[]",
                                 "{\"step\":1}",
                                 "{\"loss\":1}",
                                 "{\"step\":1,\"loss\":1",
                                 "{\"step\":1,\"loss\":1}}",
                                 "{\"step\":1,\"loss\":1} ",
                                 " {\"step\":1,\"loss\":1}",
                                 "{\"step\": 1,\"loss\":1}",
                                 "{\"step\":1,\"loss\":1,}",
                                 "{\"step\":1,\"loss\":1,\"new\":2}",
                                 "{\"step\":1,\"step\":2,\"loss\":1}",
                                 "{\"step\":1,\"loss\":01}",
                                 "{\"step\":1,\"loss\":.5}",
                                 "{\"step\":1,\"loss\":5.}",
                                 "{\"step\":1,\"loss\":+5}",
                                 "{\"step\":1,\"loss\":-0}",
                                 "{\"step\":1,\"loss\":1e}",
                                 "{\"step\":1,\"loss\":1e999}",
                                 "{\"step\":1,\"loss\":1e-999}",
                                 "{\"step\":1,\"loss\":nan}",
                                 "{\"step\":1,\"loss\":inf}",
                                 "{\"step\":1,\"loss\":-inf}",
                                 "{\"step\":1,\"loss\":\"1\"}",
                                 "{\"step\":1,\"loss\":null}",
                                 "{\"step\":1,\"loss\":0x10}",
                                 "{\"step\":1.0,\"loss\":1}",
                                 "{\"step\":1e0,\"loss\":1}",
                                 "{\"step\":9223372036854775808,\"loss\":1}",
                                 "{\"step\":1,\"loss\":1,\"skipped\":1}",
                                 "{\"step\":1,\"loss\":1,\"skipped\":truefalse}",
                                 "{\"st\\u0065p\":1,\"loss\":1}",
                                 "{\"result\":{\"value\":1}}",
                                 "{\"step\":-,\"loss\":1}",
                                 "{\"step\":1,\"loss\":-}",
                                 "{\"step\":1 \"loss\":1}",
                                 "{step:1,loss:1}"}) {
    LogRecord record;
    INFO(line);
    CHECK_FALSE(read_step_line(line, record));
  }
}

TEST_CASE("a log with spaces in its lines reads as the same without") {
  files::Folder folder;
  for (const auto& entry : std::filesystem::directory_iterator(TINYMP_SOURCE_DIR "/lessons/clinic/runs")) {
    const std::string spaced = folder / "spaced.jsonl";
    {
      std::ofstream out(spaced, std::ios::binary);
      for (const std::string& line : lines_of(entry.path())) out << "{ " << line.substr(1) << "\n";
    }
    const Run slow = load_run(spaced), fast = load_run(entry.path().string());
    REQUIRE(slow.steps.size() == fast.steps.size());
    CHECK(slow.sizes.size() == fast.sizes.size());
    CHECK(slow.findings.size() == fast.findings.size());
    for (std::size_t i = 0; i < slow.steps.size(); ++i) {
      const auto same = [&, i](const char* key, const auto& member) {
        fields(fast.steps[i], [&](const char* other, const auto& value) {
          if constexpr (std::same_as<decltype(value), decltype(member)>)
            if (std::string_view(key) == other)
              CHECK((value == member || (value != value && member != member)));
        });
      };
      fields(slow.steps[i], same);
    }
  }
}

TEST_CASE("what was not measured is not written, and what was measured reads back") {
  files::Folder folder;
  RunLog log(folder / "run.jsonl", RunHeader{});
  log.write({.step = 1, .loss = 2});
  log.write({.step = 2,
             .loss = 1,
             .grad_norm = 0.1,
             .epoch = 0.5,
             .seconds = 3,
             .validation_loss = 0.2,
             .metric = 93.25});
  const MemoryBytes memory{
      .weights = 8, .masters = 16, .optimizer = 32, .gradients = 9, .activations = 99, .workspace = 1};
  log.finish({.value = 1, .peak_bytes = 123456789012, .memory = memory});
  const std::vector<std::string> lines = lines_of(log.path());
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == R"({"step":1,"loss":2.0,"scale":1.0,"skipped":false,"skips":0})");
  CHECK(lines[2].ends_with(
      R"("grad_norm":0.1,"epoch":0.5,"seconds":3.0,"validation_loss":0.2,"metric":93.25})"));
  const Run run = load_run(log.path());
  CHECK(std::isnan(run.steps[0].metric));
  CHECK(run.steps[1].grad_norm == 0.1);
  CHECK(run.steps[1].epoch == 0.5);
  CHECK(run.steps[1].seconds == 3);
  CHECK(run.steps[1].validation_loss == 0.2);
  CHECK(run.steps[1].metric == 93.25);
  CHECK(run.result->peak_bytes == 123456789012);
  CHECK(run.result->memory == memory);
  RunLog plain(folder / "plain.jsonl", RunHeader{});
  plain.finish({.value = 1, .peak_bytes = 5});
  CHECK(lines_of(plain.path())[1].ends_with(R"("peak_bytes":5}})"));

  // A log from before kernels' scratch was told apart.
  std::ofstream old(folder / "old.jsonl");
  std::string last = lines[3];
  for (const std::string later : {R"(,"scratch":0)", R"("peak_without_scratch":0,)"})
    if (const std::size_t at = last.find(later); at != std::string::npos) last.erase(at, later.size());
  CHECK(last.find("scratch") == std::string::npos);
  old << lines[0] << "\n" << lines[1] << "\n" << last << "\n";
  old.close();
  CHECK(load_run(folder / "old.jsonl").result->memory == memory);
}
