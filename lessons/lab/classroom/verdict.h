#pragma once

#include <lessons/lab/classroom/exercise.h>
#include <lessons/lab/classroom/fence.h>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

/// Compiles a text in the place of an exercise's region together with serve.cpp, and lets the exercise's
/// judge ask that program what comes out for its cases. The judge is a process of its own, made from
/// check.cpp once and kept in the build folder: nothing that the text does in its process makes a verdict.
namespace tinymp::classroom {

struct Verdict {
  enum class Outcome : std::uint8_t {
    passed,
    wrong,     ///< a case was wrong: the misconception and the counterexample
    stopped,   ///< it ended before it was judged: a crash, exit(), no time left
    no_build,  ///< it does not compile
    machine,   ///< the compiler could not start, or could not write: nothing is known of the text
  };
  Outcome outcome = Outcome::stopped;
  std::string message{};                ///< for people; empty when it passed
  std::string printed{};                ///< what the learner's code printed itself
  std::int64_t cases = 0;               ///< that were judged, when it passed
  std::optional<std::uint64_t> seed{};  ///< from which the cases came that are not always the same
  double seconds = 0;
  bool passed() const { return outcome == Outcome::passed; }
};

struct Patience {
  double compile = 60, run = 60;  ///< seconds of the processor, for each of the two; by the clock:
  double by_the_clock = 5 * std::max(compile, run);
  std::function<bool()> unwanted{};     ///< true: judge() throws Unwanted
  std::optional<std::uint64_t> seed{};  ///< of the cases; a new one when not given
};

/// `path` is what compilers call the text in their errors. The program with the text in it is made in
/// `scratch`; what is the exercise's own is kept in the build folder, so the next text is judged faster. What
/// comes from others is judged behind a fence.
Verdict judge(const Exercise& exercise, const std::string& text, const std::string& path,
              const std::filesystem::path& scratch, const Patience& patience = {}, Fence fence = Fence::none);

const char* word(Verdict::Outcome outcome);  ///< "passed", "does not compile", ...

}  // namespace tinymp::classroom
