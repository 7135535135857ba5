#include <tests/catch.h>
#include <tests/lessons/chapter_check.h>
#include <tests/lessons/text_of.h>
#include <cstdlib>
#include <filesystem>

// Each chapter against the results.json beside it, and the comparison itself on small texts.
namespace tinymp::test {
namespace {

namespace fs = std::filesystem;

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
std::string faults(const std::string& text, const Json& json = results()) {
  const Readme readme = read_readme(text);
  std::string all;
  for (const Fault& fault : ChapterCheck(readme, Results(json)).faults())
    all += fmt::format("{}: {}\n", fault.line, fault.what);
  return all;
}

std::string table(const std::string& rows) {
  return "<!-- results: Does it? -->\n\n| | test accuracy (%) | flushed | lost | skipped | last S "
         "|\n|-|-|-|-|-|-|\n" +
         rows;
}

/// What the figures of a chapter are of.
std::string data_of(const std::string& chapter) {
  if (chapter.starts_with("10_")) return "cifar10 ";
  return chapter.starts_with("11_") ? "text " : "mnist ";
}

/// results.json, with what other runs of the same experiment wrote beside it: parity.json, of --full.
Json with_other_runs(Json found, const fs::path& chapter, std::string& faults) {
  const std::string text = text_of(chapter / "parity.json");
  if (text.empty()) return found;
  const Json more = Json::parse(text);
  if (more.at("lesson") != found.at("lesson") || more.at("sabotaged") != "")
    faults += chapter.string() + "/parity.json is of no honest run of this chapter\n";
  for (const char* const list : {"questions", "claims", "said"})
    for (const Json& one : more.at(list)) found[list].push_back(one);
  for (const auto& [name, value] : more.at("numbers").items()) found["numbers"][name] = value;
  return found;
}

/// The faults of the chapters, "lessons/06_loss_scaling/README.md:12: what". `before`: a folder with
/// results.json of each chapter as they were when the chapters were written, or nothing.
std::string faults_of_chapters(const fs::path& before = {}) {
  const fs::path lessons = fs::path(TINYMP_SOURCE_DIR) / "lessons";
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(lessons)) {
    const std::string name = entry.path().filename().string();
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) names.insert(name);
  }
  std::string faults;
  if (names.size() < 8) faults += fmt::format("there are {} chapters only\n", names.size());
  for (const std::string& name : names) {
    const std::string place = "lessons/" + name + "/";
    const std::string mend = fmt::format(
        "  Write it again: ./learn run {} --verify --results {}results.json\n", std::stoi(name), place);
    const std::string text = text_of(lessons / name / "results.json");
    if (text.empty()) {
      faults += place + "results.json is missing\n" + mend;
      continue;
    }
    const Json found = with_other_runs(Json::parse(text), lessons / name, faults);
    const bool whole = found.at("verified") == true && found.at("sabotaged") == "" &&
                       found.at("data").get<std::string>().starts_with(data_of(name));
    if (!whole) faults += place + "results.json is of no whole, honest run on " + data_of(name) + "\n" + mend;
    for (const Json& claim : found.at("claims")) {
      if (claim.at("holds") == false)
        faults += place + "results.json: does not hold: " + claim.at("sentence").get<std::string>() + "\n";
    }
    const Readme readme = read_readme(text_of(lessons / name / "README.md"));
    const std::string old_text = before.empty() ? "" : text_of(before / name / "results.json");
    const Json old = old_text.empty() ? found : Json::parse(old_text);
    const Results now(found), then(old);
    for (const Fault& fault : ChapterCheck(readme, now, old_text.empty() ? nullptr : &then).faults())
      faults += fmt::format("{}README.md:{}: {}\n", place, fault.line, fault.what);
  }
  return faults;
}

}  // namespace

TEST_CASE("each chapter quotes what its experiment measured") {
  const char* const before = std::getenv("TINYMP_RESULTS_BEFORE");  // from outdated.sh
  const std::string faults = faults_of_chapters(before == nullptr ? "" : before);
  std::printf("%s", faults.c_str());  // Catch breaks long lines, in the middle of numbers
  INFO(
      "Above: what to mend, and where. tests/lessons/chapter_check.h tells what is compared; where a run is "
      "newer "
      "than its chapter, bash tests/lessons/outdated.sh names what every figure has become.");
  CHECK(faults.empty());
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
      faults(
          "Seven of 5000 runs, 2^-12, FP16, g++ 12.2.0, section 3.1, arXiv 1710.03740, `x = 0.123`, 0x2e66,\n"
          "the 1st of 16x16, 1.01b, lesson 05, [a link](https://example.org/0.77.html), 4ac7e43\n"
          "```cpp\nfloat x = 0.77;\n```\n"
          "```\n./learn train --lr 0.77\n```\n"
          "## Where this comes from\n0.99\n") == "");
  CHECK(faults("A rate of 0.77, 33 % of it, 7 to 8 points.\n<!-- given: 0.77\n  33 7 to 8 points -->\n") ==
        "");
  CHECK(faults("| a | b |\n|---|---|\n| 5 | FP32, 62 % of 95.00, a third |\n") == "");
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
  CHECK(faults("<!-- results: Why? -->\n| | a |\n|-|-|\n") == "2: results.json has no question 'Why?'\n");
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
        "2: 95.1 %: no figure of results.json, which has 95.001 at the nearest, FP32 (Does it?): largest; "
        "nor is it "
        "given\n");
  CHECK(faults("![a figure: the loss falls to 0.2](figures/page.png)\n").starts_with("1: 0.2: "));
  CHECK(faults("2 % of it, and 1,234.5\n") ==
        "1: 2 %: no figure of results.json, which has 1.25 at the nearest, line 2 said, number 1; nor is it "
        "given\n"
        "1: 1234.5: no figure of results.json, which has 1024 at the nearest, FP32 (Does it?): last S, seed "
        "0; nor is "
        "it given\n");
}

/// A small chapter in which one thing is wrong, and how the fault begins.
struct Planted {
  const char* chapter;
  const char* fault;
};

TEST_CASE("whatever way a figure is written in, a wrong one is found") {
  const Planted all[] = {
      {"Of them 61 % were flushed.", "1: 61 %: no figure of results.json, which has 62.12 at the nearest"},
      {"Of them 61% were flushed.", "1: 61 %: "},
      {"Of them **61** % were flushed.", "1: 61 %: "},
      {"Of them 61&nbsp;% were flushed.", "1: 61 %: "},
      {"Of them 61 percent were flushed.", "1: 61 %: "},
      {"Of them, after a line end, 61\n% were flushed.", "1: 61 %: "},
      {"Text.\nOf them 55 to 62 % were flushed.", "2: 55 %: "},
      {"It takes 1.5x as long.",
       "1: 1.5x: no figure of results.json, which has 1.25 at the nearest, line 2 said"},
      {"It takes 3x as long.", "1: 3x: "},
      {"It takes 2.3k steps.", "1: 2.3k: "},
      {"It takes 10s.", "1: 10 s: "},
      {"It takes 10 s.", "1: 10 s: "},
      {"It takes 10 seconds.", "1: 10 seconds: "},
      {"It takes 7 to 10 ms.", "1: 7 ms: "},
      {"It reaches 200 GFLOP/s.", "1: 200 GFLOP/s: "},
      {"It is 20 points lower.", "1: 20 points: "},
      {"An error of 1e-3.", "1: 1e-3: "},
      {"It ends at `95.1 %`.", "1: 95.1 %: "},
      {"It ends at .77 of it.", "1: .77: "},
      {"- an item,\n  on two lines: 95.1 %", "2: 95.1 %: "},
      {"## A loss of 0.2", "1: 0.2: "},
      {"```\n0.5 |*\n  FP32  0.2\n```\n<!-- given: 0.5 -->", "3: 0.2: "},
      {"```\n./learn run 1   # ends at 95.1 %\n```", "2: 95.1 %: "},
      {"## Where this comes from\n0.99\n## And more\n0.2", "4: 0.2: "},
      {"| | loss |\n|---|---|\n| FP32 | 0.2 |", "3: 0.2: "},
      {"| | skipped |\n|---|---|\n| FP32 | 17 |", "3: 17: no figure of results.json, which has 21.3"},
      {"a | b\n-|-\nFP32 | 17", "3: 17: "},
      {"<!-- given: 0.77 -->", "1: 0.77 is given, and no figure of the chapter"},
      {"<!-- given: 7 points -->\nIt is 7 % lower.", "1: 7 points is given"},
  };
  for (const auto& [chapter, fault] : all) {
    INFO(chapter);
    CHECK_THAT(faults(std::string(chapter) + "\n"), Catch::Matchers::StartsWith(fault));
  }
}

TEST_CASE("what would hide a figure from the comparison is found") {
  const std::string head = "<!-- results: Does it? -->\n| | accuracy (%) |\n|---|---|\n";
  const Planted all[] = {
      {"| FP32 | 94.8 | 12.3 |", "4: a row of 3 cells under a head of 2: '12.3' is not shown"},
      {"| FP32 |", "4: a row of 1 cells under a head of 2"},
  };
  for (const auto& [row, fault] : all)
    CHECK_THAT(faults(head + row + "\n"), Catch::Matchers::StartsWith(fault));
  Json once = results();  // NaN on two seeds of three
  once["questions"][0]["curves"][2]["first step with NaN"] = {0, 7, 10};
  CHECK(
      faults(head + "| broken | NaN at step 7 to 10, every seed |\n", once) ==
      "4: broken, accuracy (%): the chapter says 'NaN at step 7 to 10, every seed', results.json NaN on some "
      "seeds only\n");
  CHECK(faults("Text.\n```\n0.2\n").starts_with("2: this block never ends"));
  CHECK(faults("<!-- given: 1\n0.2\n").starts_with("1: this comment never ends"));
  CHECK(faults("<!-- printed --> 0.2\n").starts_with("1: what follows --> wants a line of its own"));
  CHECK(faults("<!-- result: Does it? -->\n").starts_with("1: a comment that nobody reads"));
}

TEST_CASE("what a newer run has in place of a figure is told") {
  const Json before = results();
  Json after = before;
  after["questions"][0]["curves"][0]["mean"] = 94.91;
  after["questions"][0]["curves"][0]["values"] = {94.8, 94.9, 95.03};
  after["questions"][0]["verdict"] = "No: it ends 20.9 points lower.";
  after["said"][1] = "  another  1.27";
  const Readme readme = read_readme(
      "On average 94.8, which is 21.3 points less; 62.1 % are flushed.\n\n"
      "<!-- printed -->\n```\n  another  1.25\n```\n" +
      table("| FP32 | 94.78 | | | | |"));
  const Results then(before), now(after);
  std::string all;
  for (const Fault& fault : ChapterCheck(readme, now, &then).faults())
    all += fmt::format("{}: {}\n", fault.line, fault.what);
  CHECK(all ==
        "1: 94.8: now 94.9 (FP32 (Does it?): mean)\n"
        "1: 21.3 points: now 20.9 (verdict of 'Does it?', number 1)\n"
        "5: the experiment did not say (here):   another  1.25\n  it says now:   another  1.27\n"
        "11: FP32, test accuracy (%): the chapter says '94.78', results.json 94.91\n");
}

}  // namespace tinymp::test
