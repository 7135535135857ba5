#include <fmt/format.h>
#include <lessons/lab/classroom/attempt.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/similarity.h>
#include <lessons/lab/learn/words.h>
#include <tuple>
#include <utility>

namespace tinymp::classroom {

namespace fs = std::filesystem;

std::string progress_key(const Exercise& exercise) { return "exercise " + exercise.number(); }

bool has_passed(const Exercise& exercise, const lab::Progress& progress) {
  return progress.first(progress_key(exercise), "passed").has_value();
}

const Exercise* next_of(const std::vector<Exercise>& exercises, const lab::Progress& progress) {
  for (const Exercise& exercise : exercises)
    if (!has_passed(exercise, progress)) return &exercise;
  return nullptr;
}

const Exercise* next_after(const Exercise& exercise, const std::vector<Exercise>& exercises,
                           const lab::Progress& progress) {
  const Exercise* best = nullptr;
  const auto rank = [&](const Exercise& other) {
    const bool is_behind = std::tie(other.chapter, other.place) > std::tie(exercise.chapter, exercise.place);
    return std::pair(other.chapter != exercise.chapter, !is_behind);
  };
  for (const Exercise& other : exercises)
    if (!has_passed(other, progress) && (best == nullptr || rank(other) < rank(*best))) best = &other;
  return best;
}

std::string shown(const fs::path& path) {
  const fs::path near = path.lexically_relative(fs::current_path());
  return near.empty() || near.begin()->string() == ".." ? path.string() : near.string();
}

Attempt attempt(const Exercise& exercise, const Workbook& workbook, lab::Progress& progress,
                const Patience& patience) {
  Attempt made;
  made.began = workbook.begin(exercise);
  const fs::path own = workbook.path(exercise);
  static const ScratchFolder scratch("check");  // watch judges the same exercise again and again
  const std::string text = read_file(own);
  made.verdict = judge(exercise, text, own.string(), scratch.path(), patience);
  const bool judged = made.verdict.outcome != Verdict::Outcome::machine;
  if (judged && !is_stub(text, read_file(exercise.stub()))) progress.add(progress_key(exercise), "attempt");
  if (made.verdict.passed() && !has_passed(exercise, progress))
    progress.add(progress_key(exercise), "passed");
  return made;
}

namespace {

/// The command that draws the same cases again.
std::string repeated(const Exercise& exercise, const Verdict& verdict) {
  if (!verdict.seed) return "";
  return fmt::format("The same cases again: ./learn check {} --cases {}\n", exercise.number(), *verdict.seed);
}

}  // namespace

std::string describe(const Exercise& exercise, const Attempt& attempt, const Workbook& workbook) {
  const Verdict& verdict = attempt.verdict;
  std::string text;
  if (attempt.began) text += fmt::format("A file to begin with: {}\n\n", shown(workbook.path(exercise)));
  if (!verdict.printed.empty() && verdict.outcome != Verdict::Outcome::no_build)
    text += "Your code printed:\n" + verdict.printed + "\n";
  if (const std::string refused = why_refused(read_file(workbook.path(exercise)), exercise.without);
      !refused.empty())
    text += "./learn grade would refuse this file. " + refused + "\n\n";
  if (verdict.passed())
    return lab::fitted(
        text +
        fmt::format("{0} {1}: passed, {2} cases in {3:.1f} s.\n"
                    "How tinymp does it: ./learn solution {0}    Train with yours: ./learn run {4} --mine\n",
                    exercise.number(), exercise.title, verdict.cases, verdict.seconds, exercise.chapter));
  return lab::fitted(text + fmt::format("{0} {1}: not yet.\n\n{2}\n\nYour file: {3}\n"
                                        "Once more: ./learn check {0}    A hint: ./learn hint {0}\n{4}",
                                        exercise.number(), exercise.title, verdict.message,
                                        shown(workbook.path(exercise)), repeated(exercise, verdict)));
}

}  // namespace tinymp::classroom
