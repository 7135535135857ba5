#include <fmt/format.h>
#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/question.h>
#include <lessons/lab/classroom/sha256.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/words.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cmath>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

namespace tinymp::classroom {
namespace {

/// "15.5", "1e-3", "2^-7"
std::optional<double> number(std::string text) {
  if (text.rfind('+', 0) == 0) text.erase(0, 1);
  const bool power = text.rfind("2^", 0) == 0;
  if (power) text.erase(0, 2);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value)) return {};
  if (!power) return value;
  if (std::floor(value) != value || std::abs(value) > 1000) return {};
  return std::ldexp(1.0, static_cast<int>(value));
}

bool same(const Question::Answer& wanted, const std::string& given) {
  if (wanted.bits) return given == wanted.text;
  const std::optional<double> a = number(wanted.text), b = number(given);
  return a && b && std::abs(*a - *b) <= 1e-4 * std::abs(*a);
}

}  // namespace

Draw::Draw(const std::string& student, int chapter)
    : seed_(concat("tinymp question ", chapter, " for ", student, " ")) {}

int Draw::between(int low, int high) {
  const std::uint32_t word = sha256_words(concat(seed_, drawn_++))[0];
  return low + static_cast<int>(word % static_cast<std::uint32_t>(high - low + 1));
}

Question::Answer whole(std::int64_t value) { return {false, std::to_string(value)}; }

Question::Answer real(double value) { return {false, fmt::format("{}", value)}; }

void add_bits(std::vector<Question::Answer>& answers, const std::string& fields) {
  std::istringstream words(fields);
  for (std::string word; words >> word;) answers.push_back({true, word});
}

Question question(int chapter, const std::string& student) {
  constexpr std::array questions = {format_question,   tile_question,        sum_question,
                                    gradient_question, update_question,      window_question,
                                    scaler_question,   exponential_question, autocast_question};
  static_assert(questions.size() == last_question);
  if (chapter < first_question || chapter > last_question)
    throw UsageError(concat("there is no question ", chapter, "; there are 1 to ", last_question));
  Question asked = questions[static_cast<std::size_t>(chapter - first_question)](Draw(student, chapter));
  asked.chapter = chapter;
  return asked;
}

std::string answer_in(const std::string& answers, int chapter) {
  std::istringstream lines(answers);
  std::string answer;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string first, all;
    words >> first;
    if (first != std::to_string(chapter)) continue;
    for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
    answer = all;
  }
  return answer;
}

bool is_right(const Question& question, const std::string& answer) {
  std::istringstream words(answer);
  std::string word;
  for (const Question::Answer& wanted : question.answers)
    if (!(words >> word) || !same(wanted, word)) return false;
  return !(words >> word) && !question.answers.empty();
}

namespace {

/// A question is written in lines of a screen. They become one paragraph, but for formulas, which are
/// indented, and the last line, which says what to answer.
std::string in_paragraphs(const std::string& text) {
  std::istringstream lines(text.substr(0, text.rfind('\n')));
  std::string all;
  bool formula = true;
  for (std::string line; std::getline(lines, line);) {
    const bool was_formula = std::exchange(formula, line.rfind(' ', 0) == 0);
    all += (all.empty() ? "" : was_formula || formula ? "\n" : " ") + line;
  }
  return all + text.substr(text.rfind('\n'));
}

}  // namespace

// ./learn question: a student's own.
int question_command(int argc, const char* const* argv) {
  int chapter = 0;
  std::string student;
  CLI::App app(
      "One question a chapter, with numbers of your own. Answers go into mine/answers.txt, a line each: the "
      "chapter, and the words that the question asks for.\nNumbers as 0.375, 1e-3 or 2^-7.",
      "./learn question");
  app.add_option("N", chapter, "1 to 9 (all of them)")->check(lab::whole(first_question, last_question));
  app.add_option("--id", student, "Who you are: as your teacher knows you")->required();
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  for (int n = chapter == 0 ? first_question : chapter; n <= (chapter == 0 ? last_question : chapter); ++n)
    std::cout << lab::fitted(fmt::format("Question {}. {}\nIn mine/answers.txt: {} ...\n\n", n,
                                         in_paragraphs(question(n, student).text), n));
  return 0;
}

}  // namespace tinymp::classroom
