#include <tests/catch.h>
#include <tests/lessons/chapter_check.h>
#include <tests/lessons/text_of.h>
#include <tinymp/base/error.h>
#include <filesystem>
#include <regex>

// The README of the repository quotes a lesson's figure, and measured speeds.
namespace tinymp::test {
namespace {

namespace fs = std::filesystem;

const fs::path root = TINYMP_SOURCE_DIR;

std::string faults_of(const std::string& text, const Json& json) {
  const Readme readme = read_readme(text);
  std::string all;
  for (const Fault& fault : ChapterCheck(readme, Results(json)).faults())
    all += fmt::format("{}: {}\n", fault.line, fault.what);
  return all;
}

/// Medians and what is made of them; of single samples there are so many that one equals anything.
bool is_sample(const std::string& place) {
  return place.find("_ratios/") != std::string::npos || place.find("_shares/") != std::string::npos;
}

/// What ./learn bench wrote into the files that the section names, `lessons/lab/bench/results/NAME.json` or NAME-*.json,
/// as a results.json of numbers and lines alone.
Json figures_of_bench(const std::string& section) {
  static const std::regex files(R"(`(lessons/lab/bench/results)/([^`*]+)\*?\.json`)");
  Json all{{"questions", Json::array()},
           {"claims", Json::array()},
           {"said", Json::array()},
           {"numbers", Json::object()}};
  std::sregex_iterator named(section.begin(), section.end(), files), end;
  REQUIRE(named != end);
  for (; named != end; ++named) {
    const std::string begin = (*named)[2];
    for (const fs::directory_entry& file : fs::directory_iterator(root / (*named)[1].str())) {
      const std::string name = file.path().filename().string();
      if (!name.starts_with(begin) || !name.ends_with(".json")) continue;
      const Json flat = Json::parse(text_of(file.path())).flatten();
      for (const auto& [place, value] : flat.items()) {
        if (value.is_number() && !is_sample(place)) all["numbers"][name + place] = value;
        if (value.is_string()) all["said"].push_back(value);
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("the front page says of a lesson's figure what the lesson measured") {
  const std::string text = text_of(root / "README.md");
  static const std::regex image(R"(!\[([^\]]*)\]\(lessons/([^/)]*)/figures/)");
  int images = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), image), end; i != end; ++i, ++images) {
    const Json json = Json::parse(text_of(root / "lessons" / (*i)[2].str() / "results.json"));
    CHECK(faults_of((*i)[1].str(), json) == "");
    CHECK(faults_of((*i)[1].str() + " 0.0779", json).starts_with("1: 0.0779: "));
  }
  CHECK(images > 0);
}

TEST_CASE("the front page says of speeds what ./learn bench measured") {
  const std::string text = text_of(root / "README.md");
  const std::size_t begin = text.find("## How fast\n");
  REQUIRE(begin != std::string::npos);
  const std::string section = text.substr(begin, text.find("\n## ", begin) - begin);
  const Json json = figures_of_bench(section);
  CHECK(faults_of(section, json) == "");
  for (const std::string wrong : {"4571", "17.4"}) {  // 4570 steps a second, 17.5 times PyTorch
    INFO(wrong);
    const std::string row = concat("| step | ratio |\n|---|---|\n| MLP | ", wrong, " |\n");
    CHECK(faults_of(row, json).starts_with(concat("3: ", wrong, ": ")));
  }
}

}  // namespace tinymp::test
