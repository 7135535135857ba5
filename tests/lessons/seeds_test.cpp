#include <lessons/lab/learn/commands/side_by_side.h>
#include <tests/catch.h>
#include <tests/lessons/results_json.h>
#include <tests/lessons/text_of.h>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

// lessons/seeds.txt, what verify-all --first-seed wrote, against results.json and against what chapters
// quote.
namespace tinymp::test {
namespace {

namespace fs = std::filesystem;

const fs::path lessons = fs::path(TINYMP_SOURCE_DIR) / "lessons";

/// The lines under "Lesson 6: holds", by number.
std::map<int, std::vector<std::string>> logged() {
  std::map<int, std::vector<std::string>> by_lesson;
  std::istringstream log(text_of(lessons / "seeds.txt"));
  std::vector<std::string>* lines = nullptr;
  for (std::string line; std::getline(log, line);) {
    if (line.starts_with("Lesson ")) {
      lines = &by_lesson[std::stoi(line.substr(7))];
      CHECK(line.ends_with(": holds"));
    } else if (lines != nullptr && line.starts_with("  ")) {
      lines->push_back(line);
    }
  }
  return by_lesson;
}

/// A claim that was broken into lines is one again.
std::vector<std::string> items(const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const std::string& line : lines) {
    if (line.starts_with("    ")) {
      all.back() += line.substr(3);
    } else {
      all.push_back(line);
    }
  }
  return all;
}

/// "at most 1.00|1.02 times" is "at most 1.00 times" of the first seeds. Where sentences differ in more than
/// figures, each stands whole: "step 1 to 3 | step 7".
std::string of_the_first(const std::string& line) {
  return std::regex_replace(line.substr(0, line.find(" | ")), std::regex(R"((\S+?)\|\S+)"), "$1");
}

/// The block behind <!-- other seeds -->.
std::vector<std::string> quoted(const std::string& chapter) {
  std::vector<std::string> lines;
  std::istringstream in(text_of(lessons / chapter / "README.md"));
  int fences = -1;
  for (std::string line; std::getline(in, line);) {
    if (line == "<!-- other seeds -->") fences = 0;
    if (fences == 1 && line != "```") lines.push_back(line);
    fences += fences >= 0 && line == "```";
  }
  return lines;
}

}  // namespace

TEST_CASE("sentences of several runs become one, with their figures side by side") {
  CHECK(lab::side_by_side({"at most 1.01 times (1.05 allowed)", "at most 1.02 times (1.05 allowed)",
                           "at most NaN times (1.05 allowed)"}) ==
        "at most 1.01|1.02|NaN times (1.05 allowed)");
  CHECK(lab::side_by_side({"the same", "the same"}) == "the same");
  CHECK(lab::side_by_side({"one word", "two words more"}).empty());
}

TEST_CASE("the claims on other seeds hold, begin with the figures on record, and stand in each chapter") {
  const std::map<int, std::vector<std::string>> all = logged();
  int chapters = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(lessons)) {
    const std::string name = entry.path().filename().string();
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    INFO(name << ": ./learn verify-all --first-seed 40,1000,5000 --out lessons/seeds.txt renews the log");
    chapters += 1;
    const auto found = all.find(std::stoi(name));
    REQUIRE(found != all.end());
    const std::vector<std::string>& lines = found->second;
    CHECK(quoted(name) == lines);
    const Json claims = Json::parse(text_of(entry.path() / "results.json")).at("claims");
    const std::vector<std::string> logged_claims = items(lines);
    REQUIRE(logged_claims.size() == claims.size() + 1);
    for (std::size_t i = 0; i < claims.size(); ++i)
      CHECK(of_the_first(logged_claims[i + 1]) == "  + " + claims[i].at("sentence").get<std::string>());
  }
  CHECK(chapters == static_cast<int>(all.size()));
}

}  // namespace tinymp::test
