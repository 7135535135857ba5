#include <lessons/lab/classroom/homework.h>
#include <lessons/lab/classroom/question.h>
#include <lessons/lab/learn/command_line.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <sstream>

namespace tinymp::classroom {
namespace {

/// "Q4" -> 4; 0 when the word is no question. Throws UsageError for Q0.
int question_named(const std::string& word) {
  const bool is_one =
      word.size() == 2 && (word[0] == 'Q' || word[0] == 'q') && word[1] >= '0' && word[1] <= '9';
  if (!is_one) return 0;
  const int n = word[1] - '0';
  if (n < first_question || n > last_question)
    throw UsageError(concat("--only: there is no question ", word, "; they are Q", first_question, " to Q",
                            last_question));
  return n;
}

void choose(const std::string& only, Grading& grading) {
  grading.exercises.clear();
  grading.questions.clear();
  std::istringstream words(only);
  for (std::string word; std::getline(words, word, ',');) {
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    if (const int n = question_named(word); n != 0) {
      if (std::ranges::count(grading.questions, n) == 0) grading.questions.push_back(n);
      continue;
    }
    for (const Exercise& exercise : exercises_named(word))
      if (std::ranges::count(grading.exercises, exercise.id, &Exercise::id) == 0)
        grading.exercises.push_back(exercise);
  }
  std::ranges::sort(grading.questions);
  std::ranges::sort(grading.exercises, {},
                    [](const Exercise& one) { return std::pair(one.chapter, one.place); });
}

/// A time on this machine's clock. The result is the end of the minute, so the whole minute is in time.
std::filesystem::file_time_type time_of(const std::string& text) {
  std::tm time{};
  const char* const end = strptime(text.c_str(), "%Y-%m-%dT%H:%M", &time);
  time.tm_isdst = -1;
  const std::tm asked = time;
  const std::time_t seconds = end != nullptr && *end == '\0' ? std::mktime(&time) : -1;
  if (seconds == -1 || time.tm_mday != asked.tm_mday)
    throw UsageError(concat("--due ", text, " is no time; for example 2026-11-30T23:59"));
  const auto next_minute = std::chrono::system_clock::from_time_t(seconds + 60);
  return std::chrono::file_clock::from_sys(next_minute) - std::filesystem::file_time_type::duration(1);
}

}  // namespace

void Homework::add_flags(CLI::App& app) {
  app.add_option("--only", only, "Exercises and questions that count: 1.1,4.1,Q4 (all of them)");
  app.add_option("--minutes", minutes, "For all exercises of one student")
      ->check(lab::positive())
      ->capture_default_str();
}

void Homework::set(Grading& grading) const {
  if (!only.empty()) choose(only, grading);
  if (!due.empty()) grading.due = time_of(due);
  grading.seconds = 60 * minutes;
  if (grading.exercises.empty() && grading.questions.empty())
    throw UsageError("--only names nothing; for example --only 1.1,4.1,Q4");
}

}  // namespace tinymp::classroom
