#include <tests/catch.h>
#include <tests/lessons/chapter.h>
#include <filesystem>
#include <fstream>

// Each chapter against the results.json beside it, and the comparison itself on small texts.
namespace tinymp::test {
namespace {

namespace fs = std::filesystem;

/// Chapters without a results.json yet.
const std::set<std::string> exempt;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Json curve(const std::string& name, std::vector<double> values, Json shares = Json::object()) {
  double sum = 0;
  for (const double value : values) sum += value;
  Json list = Json::array();
  for (const double value : values) list.push_back(std::isnan(value) ? Json("nan") : Json(value));
  const double mean = sum / static_cast<double>(values.size());
  return {{"name", name},
          {"metric", "test accuracy (%)"},
          {"values", list},
          {"mean", std::isnan(mean) ? Json("nan") : Json(mean)},
          {"smallest", list.front()},
          {"largest", list.back()},
          {"shares", std::move(shares)},
          {"skipped", {0, 2, 4}},
          {"last S", {1024, 1024, 1024}},
          {"first loss", {2.31, 2.32, 2.33}},
          {"last loss", {0.11, 0.12, 0.13}},
          {"first step with NaN", {5, 7, 10}}};
}

Json results() {
  const double nan = std::nan("");
  return {{"questions",
           {{{"question", "Does it?"},
             {"verdict", "No: it ends 21.3 points lower."},
             {"curves",
              {curve("FP32", {94.66, 94.684, 95.001}),
               curve("FP16, S = 1", {70.04, 71, 72.06}, {{"flushed", 0.6212}, {"lost", 0.0004}}),
               curve("broken", {90, nan, 91})}}},
            {{"question", "And here?"}, {"verdict", ""}, {"curves", {curve("FP32", {50, 51, 52})}}}}},
          {"claims", {{{"holds", true}, {"sentence", "within 0.09 points of FP32 (0.5 allowed)"}}}},
          {"numbers", {{"zero gradients", 0.9873}, {"a dot product", 2.4912e-8}}},
          {"said", {"  a line", "  another  1.25", "", "  a third"}}};
}

/// "3: what", one line a fault.
std::string faults(const std::string& text) {
  std::string all;
  for (const Fault& fault : Chapter(text, results()).faults())
    all += fmt::format("{}: {}\n", fault.line, fault.what);
  return all;
}

std::string table(const std::string& rows) {
  return "<!-- results: Does it? -->\n\n| | test accuracy (%) | flushed | lost | skipped | last S "
         "|\n|---|---|\n" +
         rows;
}

}  // namespace

TEST_CASE("each chapter quotes what its experiment measured") {
  const fs::path lessons = fs::path(TINYMP_SOURCE_DIR) / "lessons";
  int chapters = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(lessons)) {
    const std::string name = entry.path().filename().string();
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    ++chapters;
    const std::string place = "lessons/" + name + "/", number = std::to_string(std::stoi(name));
    const std::string mend =
        "\nWrite it again: ./learn run " + number + " --verify --results " + place + "results.json";
    const std::string text = text_of(entry.path() / "results.json");
    if (text.empty()) {
      if (exempt.count(name) == 0) FAIL_CHECK(place << "results.json is missing." << mend);
      continue;
    }
    const Json found = Json::parse(text);
    const bool whole = found.at("verified") == true && found.at("sabotaged") == "" &&
                       found.at("data").get<std::string>().starts_with("mnist ");
    if (!whole) FAIL_CHECK(place << "results.json is of no whole, honest run on MNIST." << mend);
    for (const Json& claim : found.at("claims")) {
      if (claim.at("holds") == false)
        FAIL_CHECK(place << "results.json: does not hold: " << claim.at("sentence"));
    }
    std::string faults;
    for (const Fault& fault : Chapter(text_of(entry.path() / "README.md"), found).faults())
      faults += fmt::format("{}README.md:{}: {}\n", place, fault.line, fault.what);
    if (!faults.empty()) {
      FAIL_CHECK(faults << "results.json is of " << found.at("machine").at("date").get<std::string>() << mend
                        << "\nThen correct the chapter; tests/lessons/chapter.h tells what is compared.");
    }
  }
  CHECK(chapters >= 7);
}

TEST_CASE("a chapter that says what was measured has no faults") {
  CHECK(faults(table("| FP32 | 94.78 (94.66 .. 95.00) | - | - | 2 (0 .. 4) | 1024 |\n"
                     "| `FP16, S = 1` | **71.0** (70.0 .. 72.1) | 62 % | <0.1 % | 0 .. 4 | 1024 |\n"
                     "| broken | **NaN** at step 5 to 10, every seed | | | 2 | |\n")) == "");
  CHECK(faults("It ends at 95.001 %, 21.3 points lower, at most 0.09; 98.7 % are zero, 62.1 % flushed,\n"
               "the loss falls from 2.31 to 0.1; one is 2.49e-8.\n") == "");
  CHECK(
      faults("<!-- printed -->\n```\n  a line\n\n  a third\n```\n1. Indented:\n   <!-- printed -->\n   ```\n"
             "     another  1.25\n   ```\n") == "");
}

TEST_CASE("what is no figure of a run may stand in a chapter") {
  CHECK(
      faults("Seven of 5000 runs, 2^-12, FP16, g++ 12.2.0, section 3.1, arXiv 1710.03740, `0.123`, 0x2e66,\n"
             "[a link](https://example.org/0.77.html)\n```cpp\nfloat x = 0.77;\n```\n"
             "<!-- a comment: 0.77\n     0.88 -->\n## Where this comes from\n0.99\n") == "");
  CHECK(faults("A rate of 0.77, 33 % of it.\n<!-- given: 0.77\n  33 -->\n") == "");
}

TEST_CASE("a wrong figure in a table is found") {
  CHECK(faults(table("| FP32 | 94.79 (94.66 .. 95.00) | | | | |\n")) ==
        "5: FP32, test accuracy (%): the chapter says '94.79 (94.66 .. 95.00)', results.json 94.78 (94.66 .. "
        "95.00)\n");
  CHECK(faults(table("| FP32 | 94.8 (94.7 .. 95.1) | | | | |\n")).find("results.json 94.8 (94.7 .. 95.0)") !=
        std::string::npos);
  for (const char* row :
       {"| FP32 | 94.78 | 3 % | | | |\n", "| FP16, S = 1 | 71.0 | 63 % | | | |\n",
        "| FP16, S = 1 | 71.0 | - | | | |\n", "| FP32 | 94.78 | | | 3 | |\n",
        "| FP32 | 94.78 | | | | 2048 |\n", "| FP32 | NaN | | | | |\n", "| broken | 90.5 | | | | |\n",
        "| broken | NaN at step 6 | | | | |\n", "| FP32 | fine | | | | |\n"}) {
    INFO(row);
    CHECK(faults(table(row)).starts_with("5: "));
  }
}

TEST_CASE("a curve, a question, a metric that results.json lacks is found") {
  CHECK(faults(table("| FP8 | 94.78 | | | | |\n")) ==
        "5: 'FP8' is no curve of 'Does it?'; these are: FP32, FP16, S = 1, broken\n");
  CHECK(faults("<!-- results: Why? -->\n| | a |\n|-|-|\n") == "1: results.json has no question 'Why?'\n");
  CHECK(faults("<!-- results: Does it? -->\n| | MSE |\n|-|-|\n") ==
        "2: no column of this table is 'test accuracy (%)', the metric of 'Does it?'\n");
  CHECK(faults("<!-- results: Does it? -->\nText.\n")
            .starts_with("2: <!-- results: --> stands before a table"));
}

TEST_CASE("several questions are the columns of a table, in order") {
  const std::string head =
      "<!-- results: Does it? | And here? -->\n| | white, accuracy (%) | black, accuracy (%) |\n|-|-|-|\n";
  CHECK(faults(head + "| FP32 | 94.8 | 51.0 |\n| broken | NaN | |\n") == "");
  CHECK(faults(head + "| FP32 | 94.8 | 51.1 |\n").starts_with("4: FP32, black, accuracy (%): "));
}

TEST_CASE("a line that is not printed any more is found") {
  CHECK(faults("<!-- printed -->\n```\n  a line\n  another  1.24\n```\n") ==
        "4: the experiment did not say (here):   another  1.24\n  it said:   another  1.25\n");
  CHECK(faults("<!-- printed -->\n```\n  a third\n  a line\n```\n")
            .starts_with("4: the experiment did not say"));
  CHECK(faults("<!-- printed -->\nText.\n").starts_with("2: <!-- printed --> stands before a block"));
}

TEST_CASE("a figure of the text that no run gives is found") {
  CHECK(faults("\nIt ends at 95.1 %.\n") ==
        "2: 95.1 %: no figure of results.json (the nearest is 95.001), nor given\n");
  CHECK(faults("Of them 61 % were flushed.\n").starts_with("1: 61 %: "));
  CHECK(faults("| a table | 0.08 |\n").starts_with("1: 0.08: "));
  CHECK(faults("![a figure: the loss falls to 0.2](figures/page.png)\n").starts_with("1: 0.2: "));
  CHECK(faults("2 % of it, and 1,234.5\n") ==
        "1: 2 %: no figure of results.json (the nearest is 1.25), nor given\n"
        "1: 1234.5: no figure of results.json (the nearest is 1024), nor given\n");
}

}  // namespace tinymp::test
