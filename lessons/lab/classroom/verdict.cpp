#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/machine_fault.h>
#include <lessons/lab/classroom/overlay.h>
#include <lessons/lab/classroom/programs.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/tokens.h>
#include <lessons/lab/classroom/verdict.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <optional>
#include <random>
#include <sstream>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;
using Outcome = Verdict::Outcome;

bool holds(const std::string& line, const char* words) { return line.find(words) != std::string::npos; }

bool names_error(const std::string& line) {
  return holds(line, "error:") || holds(line, "multiple definition");
}

/// Whether the line only tells how the compiler came to an error.
bool is_noise(const std::string& line) {
  return holds(line, ": In ") || holds(line, "In file included from") || holds(line, "  from ") ||
         holds(line, "required from");
}

/// The line without " [with T = ...]", which names the arguments of a template.
std::string without_parameters(std::string line) {
  if (!names_error(line) && !holds(line, "note:")) return line;
  for (std::size_t at = 0; (at = line.find(" [with ", at)) != std::string::npos;) {
    std::size_t end = at + 2;
    for (int open = 1; open > 0 && end < line.size(); ++end)
      open += line[end] == '[' ? 1 : line[end] == ']' ? -1 : 0;
    line.erase(at, end - at);
  }
  return line;
}

/// The first errors of a compiler: at most 4 lines of each, so that many notes of one do not hide the next.
std::string errors_of(const std::string& output) {
  constexpr int most_lines = 24, most_of_one = 4;
  std::istringstream lines(output);
  std::string text, line;
  int of_this = most_of_one;  // no lines before the first error
  for (int n = 0; n < most_lines && std::getline(lines, line);) {
    if (names_error(line)) of_this = 0;
    if (holds(line, "warning:")) of_this = most_of_one;
    if (of_this == most_of_one || is_noise(line)) continue;
    text += (text.empty() ? "  " : "\n  ") + without_parameters(line);
    ++of_this;
    ++n;
  }
  return text.empty() ? output.substr(0, std::min<std::size_t>(1000, output.find_last_not_of('\n') + 1))
                      : text;
}

/// Whether the program ran out of wall clock and not of processor time: it has waited.
bool has_waited(const Finished& finished, double seconds) {
  return finished.out_of_time && finished.computed < seconds && finished.signal != SIGXCPU;
}

std::string why_it_ended(const Finished& finished, const std::string& asked, const Patience& patience) {
  std::string why;
  if (has_waited(finished, patience.run))
    why = concat("It was not done after ", patience.by_the_clock, " s, and has computed for ",
                 std::round(finished.computed), " s of them: does it wait for something that never comes?");
  else if (finished.out_of_time)
    why = concat("It has computed for ", patience.run, " s and was not done: a loop that never ends?");
  else if (finished.out_of_memory)
    why = "It took more memory than there is for a check.";
  else if (finished.signal != 0)
    why = concat("It crashed: ", strsignal(finished.signal), ".");
  else
    why = concat("It ended with exit code ", finished.code, " before it was judged: does it call exit()?");
  return asked.empty() ? why : why + "\n" + asked;
}

/// Whether bubblewrap, or the child before it became the program, reports that it could not start. A
/// submission can print such a line, too: then it is judged twice.
bool has_not_started(const Finished& finished) {
  constexpr int cannot_start = 127;
  return finished.output.starts_with("bwrap: ") ||
         (finished.code == cannot_start && finished.output.starts_with("cannot "));
}

/// Whether something else ended the program: the kernel, when memory is short, for example.
bool was_killed(const Finished& finished) {
  return finished.signal == SIGKILL && !finished.out_of_time && !finished.out_of_memory;
}

/// The verdict from the judge's output. When that names no verdict, it comes from how the program with the
/// submission ended.
Verdict read_judge(const std::string& output, const Finished& finished, const Patience& patience) {
  const std::size_t line = std::min(output.find('\n'), output.size());
  const std::string outcome = output.substr(0, line), rest = output.substr(std::min(line + 1, output.size()));
  Verdict verdict{.printed = finished.output};
  if (outcome == "passed") {
    verdict.outcome = Outcome::passed;
    verdict.cases = std::stoll(rest);
  } else if (outcome == "wrong") {
    verdict.outcome = Outcome::wrong;
    verdict.message = rest;
  } else if (outcome == "threw") {
    verdict.message = "It threw: " + rest;
  } else if (outcome == "lacking") {
    verdict.outcome = Outcome::machine;
    verdict.message = "The machine had no thread for it: " + rest;
  } else if (outcome == "malformed") {
    verdict.message = "What came back is no answer: " + rest + ". Does it write to file 3?";
  } else if (outcome == "gone" && has_not_started(finished)) {
    verdict.outcome = Outcome::machine;
    verdict.message = "The fence did not start: " + finished.output;
  } else if (outcome == "gone" && was_killed(finished)) {
    verdict.outcome = Outcome::machine;
    verdict.message = "It was ended from outside.";
  } else if (outcome == "gone" || finished.out_of_time || finished.out_of_memory) {
    verdict.message = why_it_ended(finished, rest, patience);
  } else {
    verdict.outcome = Outcome::machine;
    verdict.message = "The judge ended without a verdict.";
  }
  return verdict;
}

/// The names that the linker (GNU, gold or LLVM) reports as undefined. A class without its first virtual
/// function has no vtable and no typeinfo: it counts once, as a virtual function.
std::vector<std::string> undefined_in(const std::string& output) {
  std::vector<std::string> names;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    for (const std::string_view words : {"undefined reference to ", "undefined symbol: "}) {
      const std::size_t at = line.find(words);
      if (at == line.npos) continue;
      std::string name = line.substr(at + words.size());
      std::erase_if(name, [](char c) { return c == '`' || c == '\''; });
      constexpr std::string_view table = "vtable for ";
      if (name.starts_with(table)) name = "a virtual function of " + name.substr(table.size());
      if (!name.starts_with("typeinfo for ") && std::ranges::count(names, name) == 0) names.push_back(name);
    }
  return names;
}

std::string why_it_stopped(const Finished& compiler, const Patience& patience) {
  if (has_waited(compiler, patience.compile))
    return concat("The compiler did not finish in ", patience.by_the_clock, " s.");
  if (compiler.out_of_time)
    return concat("The compiler computed for ", patience.compile, " s and was not done.");
  if (compiler.out_of_memory) return "The compiler took too much memory.";
  const std::vector<std::string> undefined = undefined_in(compiler.output);
  if (undefined.empty()) return "It does not compile:\n" + errors_of(compiler.output);
  constexpr std::size_t most = 6;
  std::string why = "It is not all there: nothing defines";
  for (std::size_t i = 0; i < std::min(most, undefined.size()); ++i) why += "\n  " + undefined[i];
  if (undefined.size() > most) why += concat("\n  and ", undefined.size() - most, " more");
  return why + "\nThe functions that stand in the stub have to be there, with these names and parameters.";
}

}  // namespace

const char* word(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::wrong:
      return "wrong";
    case Outcome::no_build:
      return "does not compile";
    case Outcome::machine:
      return "not judged";
    case Outcome::stopped:
      break;
  }
  return "stopped";
}

Verdict judge(const Exercise& exercise, const std::string& text, const std::string& path,
              const fs::path& scratch, const Patience& patience, Fence fence) {
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  if (tokens_of(text).empty())
    return {.outcome = Outcome::no_build,
            .message = concat("There is no code in the file. ./learn reset ", exercise.number(),
                              " puts there what it begins with.")};
  const fs::path overlay = scratch / "overlay", program = scratch / "check";
  fs::remove_all(overlay);
  fs::remove(program);
  const fs::path original = source_folder() / exercise.file;
  write_file(overlay / exercise.file,
             with_pieces(read_file(original), {{exercise.id, text, path, exercise.replacements}},
                         original.string()));

  const fs::path judge = judge_of(exercise, patience);
  const Made made{server_of(exercise, patience), library_of(exercise, patience),
                  headers_of(exercise, patience)};
  const auto compile = [&](const std::vector<std::string>& command) -> std::optional<Verdict> {
    const Finished compiler = run(
        command,
        {.seconds = patience.compile, .by_the_clock = patience.by_the_clock, .unwanted = patience.unwanted},
        {fence, scratch, true, compiler_reads(made)});
    if (compiler.code == 0) return {};
    if (const std::string fault = machine_fault(compiler); !fault.empty())
      return Verdict{.outcome = Outcome::machine,
                     .message = "The compiler does not work here: " + fault,
                     .seconds = seconds()};
    return Verdict{
        .outcome = Outcome::no_build, .message = why_it_stopped(compiler, patience), .seconds = seconds()};
  };
  if (const auto fault = compile(compile_submission(exercise, overlay, made, program))) return *fault;
  const std::uint64_t seed = patience.seed.value_or(std::random_device{}());
  Link link;
  Companion companion({judge.string(), std::to_string(seed)}, link);
  const Finished finished = run_linked(
      {program.string()},
      {.seconds = patience.run, .by_the_clock = patience.by_the_clock, .unwanted = patience.unwanted}, link,
      {fence, scratch});
  Verdict verdict = read_judge(companion.output(patience.by_the_clock), finished, patience);
  verdict.seed = seed;
  verdict.seconds = seconds();
  return verdict;
}

}  // namespace tinymp::classroom
