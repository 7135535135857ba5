#include <lessons/lab/report/prediction_text.h>
#include <tests/catch.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace tinymp;
using report::TerminalStyle;
using train::Prediction;
using train::prediction_from;

namespace {

constexpr TerminalStyle ascii{.unicode = false, .colour = false, .width = 80};
constexpr TerminalStyle unicode{.unicode = true, .colour = false, .width = 80};
const std::vector<std::string> digits{"0", "1", "2"};
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Logits with these shares.
Prediction with_shares(const std::vector<double>& shares) {
  std::vector<float> logits;
  for (const double share : shares) logits.push_back(static_cast<float>(std::log(share)));
  return prediction_from(logits);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_ascii(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

}  // namespace

TEST_CASE("prediction text: the answer and its share") {
  CHECK(report::answer_line(with_shares({0.02, 0.963, 0.017}), digits, true) == "1  96.3 %");
  CHECK(report::answer_line(with_shares({0.5, 0.25, 0.25}), digits, true) == "0  50.0 %");
  CHECK(report::answer_line(with_shares({0.1, 0.2, 0.3, 0.4}), digits, true) == "class 3  40.0 %");
  CHECK(report::answer_line(prediction_from({1, infinity, 2}), digits, true) == "no answer  NaN");
  const std::vector<std::string> hostile{"a\x1b[2J", "b\nc", "\xff"};
  CHECK(report::answer_line(with_shares({0.9, 0.05, 0.05}), hostile, true) == "a?[2J  90.0 %");
  CHECK(report::answer_line(with_shares({0.05, 0.9, 0.05}), hostile, true) == "b?c  90.0 %");
}

TEST_CASE("prediction text: bars are as long as their shares, and fit 80 columns") {
  const Prediction made = with_shares({0.25, 0.5, 0.25});
  const std::vector<std::string> lines = lines_of(report::class_bars(made, digits, ascii));
  REQUIRE(lines.size() == 3);
  CHECK(std::ranges::count(lines[0], '#') == 10);
  CHECK(std::ranges::count(lines[1], '#') == 20);
  CHECK(lines[1].starts_with("  1  #"));
  CHECK(lines[1].ends_with("  50.0 %"));
  const std::vector<std::string> long_names{std::string(200, 'x'), "b", "c"};
  for (const TerminalStyle& style : {ascii, unicode})
    for (const std::string& line : lines_of(report::class_bars(made, long_names, style)))
      CHECK(report::display_width(line) <= 80);
  CHECK(is_ascii(report::class_bars(made, digits, ascii)));
  // A class that the data lacked has a line only where it counts.
  CHECK(lines_of(report::class_bars(with_shares({0.5, 0.499, 0.0005, 0.0005}),
                                    std::vector<std::string>{"a", "b"}, ascii))
            .size() == 2);
  CHECK(lines_of(report::class_bars(with_shares({0.5, 0.4, 0.1}), std::vector<std::string>{"a", "b"}, ascii))
            .size() == 3);
}

TEST_CASE("prediction text: an image shows its levels, row by row") {
  const std::vector<std::uint8_t> pixels{0, 255, 128, 52, 26, 0};
  CHECK(report::image_text(pixels, {2, 3, 1}, ascii) == "+------+\n|  @@++|\n|::..  |\n+------+\n");
  CHECK(report::image_text(pixels, {2, 3, 1}, unicode) == "┌──────┐\n│  ██▒▒│\n│░░    │\n└──────┘\n");
  const std::vector<std::uint8_t> green{0, 255, 0};  // Rec. 601: 150 of 256
  CHECK(report::image_text(green, {1, 1, 3}, ascii) == "+--+\n|++|\n+--+\n");
}

TEST_CASE("prediction text: what changes under a recipe") {
  const std::vector<Prediction> exact{prediction_from({1, 2, 3}), prediction_from({5, 1, 0}),
                                      prediction_from({0, 1, 0}), prediction_from({0, 0, 9})};
  const std::vector<Prediction> half{prediction_from({1, 2.5f, 3}), prediction_from({0.5f, 1, 0}),
                                     prediction_from({0, infinity, 0}), prediction_from({0, 0, 8})};
  const std::vector<std::uint8_t> labels{2, 1, 1, 0};
  report::AnswerCounts counts = report::count_answers(half, exact, labels);
  CHECK(counts.right == 2);
  CHECK(counts.changed == 2);
  CHECK(counts.not_finite == 1);
  CHECK(std::isinf(counts.largest_difference));
  counts = report::count_answers(std::span(half).first(2), std::span(exact).first(2), {});
  CHECK(counts.right == 0);
  CHECK(counts.largest_difference == 4.5);
  const std::vector<Prediction> nan{prediction_from({std::numeric_limits<float>::quiet_NaN(), 2, 900})};
  CHECK(std::isnan(report::count_answers(nan, std::span(exact).first(1), {}).largest_difference));

  const std::vector<report::Answers> all{{"fp32", recipes::fp32, exact, true}, {"o1", recipes::o1, half}};
  report::Table table = report::answers_table(all, exact, labels, digits, true);
  CHECK(table.header == std::vector<std::string>{"recipe", "weights", "matmuls", "sums", "accuracy",
                                                 "changed", "logits off", "not finite"});
  CHECK(table.rows[0] == std::vector<std::string>{"fp32 *", "f32", "f32", "f32", "50.00 %", "0", "0", "0"});
  CHECK(table.rows[1] == std::vector<std::string>{"o1", "f32", "f16", "f32", "50.00 %", "2", "inf", "1"});
  const std::vector<report::Answers> one{{"o3", recipes::o3, {half[0]}}, {"o3", recipes::o3, {half[2]}}};
  table = report::answers_table(one, std::span(exact).first(1), {}, digits, true);
  CHECK(table.header ==
        std::vector<std::string>{"recipe", "weights", "matmuls", "sums", "answer", "share", "logits off"});
  CHECK(table.rows[0][4] == "2");
  CHECK(table.rows[0][6] == "0.5");
  CHECK(table.rows[1][4] == "none");
}

TEST_CASE("prediction text: JSON has every logit, and null or text where no number is") {
  const std::vector<Prediction> exact{prediction_from({1, 2, 3}), prediction_from({5, 1, 0})};
  const std::vector<Prediction> half{prediction_from({1, 2.5f, 3}), prediction_from({0, infinity, 0})};
  const std::vector<report::Answers> all{{"fp32", recipes::fp32, exact}, {"o1", recipes::o1, half}};
  const std::vector<std::string> pictures{"a.png", "b\".png"};
  const auto json =
      nlohmann::json::parse(report::answers_json(all, exact, {}, digits, pictures, "mlp 784-10"));
  CHECK(json["model"] == "mlp 784-10");
  CHECK(json["images"] == 2);
  CHECK(json["recipes"][0]["accuracy"].is_null());
  CHECK(json["recipes"][1]["changed"] == 1);
  CHECK(json["recipes"][1]["largest_difference"] == "inf");
  CHECK(json["recipes"][1]["pictures"][0]["logits"] == nlohmann::json::array({1, 2.5, 3}));
  CHECK(json["recipes"][1]["pictures"][0]["answer"] == "2");
  CHECK(json["recipes"][1]["pictures"][1]["picture"] == "b\".png");
  CHECK(json["recipes"][1]["pictures"][1]["answer"].is_null());
  CHECK(json["recipes"][1]["pictures"][1]["logits"][1] == "inf");
  const std::vector<std::uint8_t> labels{2, 1};
  const auto right = nlohmann::json::parse(report::answers_json(all, exact, labels, digits, {}, "m"));
  CHECK(right["recipes"][0]["accuracy"] == 50.0);
  CHECK_FALSE(right["recipes"][0].contains("pictures"));
}
