#include <lessons/lab/report/number.h>
#include <lessons/lab/report/prediction_text.h>
#include <tinymp/base/error.h>
#include <tinymp/train/log_json.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace tinymp::report {
namespace {

constexpr int bar_columns = 40, widest_name = 24;

/// `share` of `columns`, in eighths of a column where Unicode has them.
std::string bar(double share, int columns, bool unicode) {
  constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int parts = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns * (unicode ? 8 : 1)));
  if (!unicode) return std::string(static_cast<std::size_t>(parts), '#');
  std::string text;
  for (int i = 0; i < parts / 8; ++i) text += "█";
  return text + eighths[parts % 8];
}

int grey_at(std::span<const std::uint8_t> pixels, const data::ImageShape& shape, std::int64_t pixel) {
  const auto first = static_cast<std::size_t>(pixel * shape.channels);
  if (shape.channels == 1) return pixels[first];
  return (77 * pixels[first] + 150 * pixels[first + 1] + 29 * pixels[first + 2] + 128) / 256;
}

std::string difference_text(double difference) { return difference == 0 ? "0" : short_number(difference, 3); }

std::string matmul_format(const Recipe& recipe) {
  return concat(recipe.autocast == DType::f32 ? recipe.compute : recipe.autocast);
}

}  // namespace

std::string share_text(double share) { return std::isnan(share) ? "NaN" : fixed(100 * share, 1) + " %"; }

std::string class_name(std::span<const std::string> names, std::size_t c, bool unicode) {
  return c < names.size() ? printable(names[c], unicode) : concat("class ", c);
}

std::string answer_line(const train::Prediction& prediction, std::span<const std::string> names,
                        bool unicode) {
  if (!prediction.is_finite) return "no answer  NaN";
  return class_name(names, prediction.answer, unicode) + "  " +
         share_text(prediction.shares[prediction.answer]);
}

std::string class_bars(const train::Prediction& prediction, std::span<const std::string> names,
                       const TerminalStyle& style) {
  std::vector<std::size_t> shown;
  int width = 0;
  for (std::size_t c = 0; c < prediction.shares.size(); ++c) {
    if (c >= names.size() && !(prediction.shares[c] >= 0.001)) continue;
    shown.push_back(c);
    width = std::max(width, display_width(class_name(names, c, style.unicode)));
  }
  width = std::min(width, widest_name);
  std::string text;
  for (const std::size_t c : shown) {
    const std::string name = shorten(class_name(names, c, style.unicode), width, style.unicode);
    const std::string line = pad(bar(prediction.shares[c], bar_columns, style.unicode), bar_columns);
    text += concat("  ", pad(name, width), "  ", c == prediction.answer ? bold(line, style) : line, "  ",
                   pad(share_text(prediction.shares[c]), 7, Align::right), "\n");
  }
  return text;
}

std::string image_text(std::span<const std::uint8_t> pixels, const data::ImageShape& shape,
                       const TerminalStyle& style) {
  constexpr const char* blocks[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  constexpr std::string_view ascii = " .:-=+*#%@";
  const auto cols = static_cast<std::size_t>(2 * shape.cols);
  const char *corner = style.unicode ? "┌┐└┘" : "++++", *across = style.unicode ? "─" : "-",
             *down = style.unicode ? "│" : "|";
  const std::size_t bytes = style.unicode ? 3 : 1;
  const auto edge = [&](std::size_t at) {
    std::string line(corner + at * bytes, bytes);
    for (std::size_t i = 0; i < cols; ++i) line += across;
    return line.append(corner + (at + 1) * bytes, bytes) + "\n";
  };
  std::string text = edge(0);
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    text += down;
    for (std::int64_t col = 0; col < shape.cols; ++col) {
      const int level = grey_at(pixels, shape, row * shape.cols + col);
      if (style.unicode)
        text += blocks[(level * 5) / 256];
      else
        text.append(2, ascii[static_cast<std::size_t>(level * 10 / 256)]);
    }
    text.append(down).append("\n");
  }
  return text + edge(2);
}

AnswerCounts count_answers(std::span<const train::Prediction> answers,
                           std::span<const train::Prediction> fp32, std::span<const std::uint8_t> labels) {
  AnswerCounts counts;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const train::Prediction &made = answers[i], &exact = fp32[i];
    counts.not_finite += !made.is_finite;
    counts.right += i < labels.size() && made.is_finite && made.answer == labels[i];
    counts.changed += made.is_finite != exact.is_finite || (made.is_finite && made.answer != exact.answer);
    for (std::size_t c = 0; c < made.logits.size(); ++c) {
      const double difference =
          std::abs(static_cast<double>(made.logits[c]) - static_cast<double>(exact.logits[c]));
      if (std::isnan(difference) || difference > counts.largest_difference)
        counts.largest_difference = difference;
    }
  }
  return counts;
}

Table answers_table(std::span<const Answers> all, std::span<const train::Prediction> fp32,
                    std::span<const std::uint8_t> labels, std::span<const std::string> names, bool unicode) {
  const bool is_one = fp32.size() == 1;
  const auto images = static_cast<double>(fp32.size());
  bool not_finite = false;
  for (const Answers& answers : all)
    not_finite |= count_answers(answers.predictions, fp32, {}).not_finite > 0;
  Table table{
      {"recipe", "weights", "matmuls", "sums"}, {Align::left, Align::left, Align::left, Align::left}, {}};
  const auto add_column = [&](const char* name, Align align) {
    table.header.emplace_back(name);
    table.align.push_back(align);
  };
  if (is_one) add_column("answer", Align::left), add_column("share", Align::right);
  if (!is_one && !labels.empty()) add_column("accuracy", Align::right);
  if (!is_one) add_column("changed", Align::right);
  add_column("logits off", Align::right);
  if (!is_one && not_finite) add_column("not finite", Align::right);
  for (const Answers& answers : all) {
    const AnswerCounts counts = count_answers(answers.predictions, fp32, labels);
    const train::Prediction& first = answers.predictions.front();
    std::vector<std::string> row{answers.name + (answers.is_own ? " *" : ""), concat(answers.recipe.compute),
                                 matmul_format(answers.recipe), concat(answers.recipe.accumulate)};
    if (is_one) {
      row.push_back(first.is_finite ? class_name(names, first.answer, unicode) : "none");
      row.push_back(first.is_finite ? share_text(first.shares[first.answer]) : "NaN");
    }
    if (!is_one && !labels.empty())
      row.push_back(fixed(100 * static_cast<double>(counts.right) / images, 2) + " %");
    if (!is_one) row.push_back(concat(counts.changed));
    row.push_back(difference_text(counts.largest_difference));
    if (!is_one && not_finite) row.push_back(concat(counts.not_finite));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string answers_json(std::span<const Answers> all, std::span<const train::Prediction> fp32,
                         std::span<const std::uint8_t> labels, std::span<const std::string> names,
                         std::span<const std::string> pictures, const std::string& model) {
  using Json = nlohmann::ordered_json;
  Json json{{"model", model}, {"classes", names}, {"images", fp32.size()}, {"recipes", Json::array()}};
  for (const Answers& answers : all) {
    const AnswerCounts counts = count_answers(answers.predictions, fp32, labels);
    Json row{{"recipe", answers.name},
             {"weights", concat(answers.recipe.compute)},
             {"matmuls", matmul_format(answers.recipe)},
             {"sums", concat(answers.recipe.accumulate)},
             {"accuracy", nullptr},
             {"changed", counts.changed},
             {"not_finite", counts.not_finite},
             {"largest_difference", train::json_number(counts.largest_difference)}};
    if (!labels.empty())
      row["accuracy"] = 100 * static_cast<double>(counts.right) / static_cast<double>(fp32.size());
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const train::Prediction& made = answers.predictions[i];
      Json picture{
          {"picture", pictures[i]}, {"answer", nullptr}, {"share", nullptr}, {"logits", Json::array()}};
      if (made.is_finite) picture["answer"] = class_name(names, made.answer, true);
      if (made.is_finite) picture["share"] = made.shares[made.answer];
      for (const float x : made.logits)
        picture["logits"].push_back(train::json_number(static_cast<double>(x)));
      row["pictures"].push_back(std::move(picture));
    }
    json["recipes"].push_back(std::move(row));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tinymp::report
