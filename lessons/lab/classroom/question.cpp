#include <fmt/format.h>
#include <lessons/lab/classroom/question.h>
#include <tinymp/base/error.h>
#include <tinymp/base/sha256.h>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

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

}  // namespace tinymp::classroom
