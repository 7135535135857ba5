#pragma once

#include <lessons/lab/classroom/exercise.h>
#include <lessons/lab/classroom/fence.h>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

/// Compiles a text in the place of an exercise's region together with serve.cpp. The exercise's judge then
/// asks that program for the results of its cases. The judge is a process of its own, made from check.cpp
/// once and kept in the build folder, so nothing that the text does in its process makes a verdict.
namespace tinymp::classroom {

struct Verdict {
  enum class Outcome : std::uint8_t {
    passed,
    wrong,     ///< a case was wrong; the message has the misconception and the counterexample
    stopped,   ///< it ended before it was judged: a crash, exit(), an exception, no time left
    no_build,  ///< it does not compile
    machine,   ///< the machine failed: the compiler could not start or write; nothing is known of the text
  };
  Outcome outcome = Outcome::stopped;
  std::string message{};                ///< for the reader; empty when the text passed
  std::string printed{};                ///< the output of the learner's code
  std::int64_t cases = 0;               ///< number of judged cases, when it passed
  std::optional<std::uint64_t> seed{};  ///< the seed of the drawn cases
  double seconds = 0;
  bool passed() const { return outcome == Outcome::passed; }
};

struct Patience {
  double compile = 60, run = 60;  ///< processor seconds, for each of the two; wall clock:
  double by_the_clock = 5 * std::max(compile, run);
  std::function<bool()> unwanted{};     ///< true: judge() throws Unwanted
  std::optional<std::uint64_t> seed{};  ///< the seed of the cases; empty: a new one
};

/// Judges `text`. Compilers name it `path` in their errors. The program with the text is made in `scratch`.
/// The parts of the exercise are kept in the build folder, so the next text is judged faster. A text of
/// others has to be judged behind a fence.
Verdict judge(const Exercise& exercise, const std::string& text, const std::string& path,
              const std::filesystem::path& scratch, const Patience& patience = {}, Fence fence = Fence::none);

const char* word(Verdict::Outcome outcome);  ///< "passed", "does not compile", ...

}  // namespace tinymp::classroom
