#include <lessons/classroom/files.h>
#include <lessons/classroom/machine_fault.h>
#include <lessons/classroom/overlay.h>
#include <lessons/classroom/process.h>
#include <lessons/classroom/sha256.h>
#include <lessons/classroom/tokens.h>
#include <lessons/classroom/verdict.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <sstream>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;
using Outcome = Verdict::Outcome;

/// A word that no text in the tree holds: a verdict without it is not the check's.
std::string unguessable() {
  std::random_device random;
  std::string word;
  for (int i = 0; i < 4; ++i) word += std::to_string(random()) + ".";
  return word;
}

std::vector<std::string> compiler(const fs::path& overlay) {
  return {TINYMP_CXX,
          "-std=c++20",
          "-O2",
          "-ffp-contract=off",
          "-fno-diagnostics-color",
          "-I" + overlay.string(),
          "-I" + source_folder().string()};
}

/// Where the exercise is no header, check.cpp does not see what the learner wrote: compiled once, it is good
/// for every text. Empty where it does.
fs::path check_object(const Exercise& exercise, const fs::path& scratch) {
  return exercise.file.ends_with(".cpp") ? scratch / (exercise.id + ".o") : fs::path{};
}

std::vector<std::string> compile_check(const Exercise& exercise, const fs::path& overlay,
                                       const fs::path& object) {
  std::vector<std::string> command = compiler(overlay);
  command.insert(command.end(), {"-c", "-o", object.string(), (exercise.folder / "check.cpp").string()});
  return command;
}

std::vector<std::string> compile_program(const Exercise& exercise, const fs::path& overlay,
                                         const fs::path& object, const fs::path& program) {
  std::vector<std::string> command = compiler(overlay);
  command.insert(command.end(),
                 {"-o", program.string(),
                  TINYMP_JUDGE,  // first: what it does before main() comes before all else
                  object.empty() ? (exercise.folder / "check.cpp").string() : object.string()});
  for (const std::string& source : exercise.sources) {
    const fs::path own = overlay / source;
    command.push_back((fs::exists(own) ? own : source_folder() / source).string());
  }
  if (exercise.links) command.emplace_back(TINYMP_LIBRARY);
  std::istringstream libraries(TINYMP_LIBRARIES);
  for (std::string library; libraries >> library;) command.push_back(library);
  return command;
}

/// What a compiler sees behind a fence, beside the folders of the system.
std::vector<fs::path> compiler_reads() {
  const fs::path source = source_folder();
  std::vector<fs::path> paths{source / "tinymp", source / "kernels", source / "lessons", TINYMP_JUDGE,
                              TINYMP_LIBRARY};
  for (const fs::path& path : {fs::path(TINYMP_CXX), fs::canonical(TINYMP_CXX)})
    if (path.native().rfind("/usr/", 0) != 0) paths.push_back(path.parent_path().parent_path());
  std::erase_if(paths, [](const fs::path& path) { return path == "/" || !fs::exists(path); });
  return paths;
}

/// From the first line on that names an error.
std::string errors_of(const std::string& output) {
  constexpr int most_lines = 12;
  std::istringstream lines(output);
  std::string text, line;
  bool found = false;
  for (int n = 0; n < most_lines && std::getline(lines, line);) {
    found =
        found || line.find("error:") != std::string::npos || line.find("multiple definition") != line.npos;
    if (!found || line.find("warning:") != std::string::npos) continue;
    text += "  " + line + "\n";
    ++n;
  }
  if (text.empty()) return output.substr(0, 1000);
  return text;
}

Verdict read_verdict(const Finished& finished, const std::string& word, const Exercise& exercise,
                     double seconds) {
  Verdict verdict;
  verdict.printed = finished.output;
  std::istringstream told(finished.verdict);
  std::string seal, outcome;
  std::getline(told, seal);
  std::string all((std::istreambuf_iterator<char>(told)), {});
  while (all.ends_with('\n')) all.pop_back();
  const bool judged = seal == sha256(word + "\n" + all);
  const std::size_t line = std::min(all.find('\n'), all.size());
  outcome = all.substr(0, line);
  const std::string rest = all.substr(std::min(line + 1, all.size()));
  if (judged && finished.code == 0 && outcome == concat("passed ", exercise.cases)) {
    verdict.outcome = Outcome::passed;
    verdict.cases = exercise.cases;
  } else if (judged && outcome == "wrong") {
    verdict.outcome = Outcome::wrong;
    verdict.message = rest;
  } else if (judged && outcome == "threw") {
    verdict.message = "It threw: " + rest;
  } else if (judged && outcome == concat("passed ", exercise.cases)) {
    verdict.message = "All cases were right, and then the program did not end as it should.";
  } else if (judged) {
    verdict.message = concat("Not all of the ", exercise.cases, " cases were judged (it ", outcome,
                             "): the check did not run to its end.");
  } else if (finished.out_of_time) {
    verdict.message = concat("It was still running after ", seconds, " s: a loop that never ends?");
  } else if (finished.out_of_memory) {
    verdict.message = "It took more memory than there is for a check.";
  } else if (finished.signal != 0) {
    verdict.message = concat("It crashed: ", strsignal(finished.signal), ".");
  } else {
    verdict.message =
        concat("It ended with exit code ", finished.code, " before it was judged: does it call exit()?");
  }
  return verdict;
}

std::string why_it_stopped(const Finished& compiler, const Patience& patience) {
  if (compiler.out_of_time) return concat("The compiler did not finish in ", patience.compile, " s.");
  if (compiler.out_of_memory) return "The compiler took too much memory.";
  return "It does not compile:\n" + errors_of(compiler.output);
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
  write_file(
      overlay / exercise.file,
      with_pieces(read_file(original), {{exercise.id, text, path, exercise.instead}}, original.string()));

  const auto compile = [&](const std::vector<std::string>& command) -> std::optional<Verdict> {
    const Finished compiler = run(command, {.seconds = patience.compile, .unwanted = patience.unwanted}, "",
                                  {fence, scratch, true, compiler_reads()});
    if (compiler.code == 0) return {};
    if (const std::string fault = machine_fault(compiler); !fault.empty())
      return Verdict{.outcome = Outcome::machine,
                     .message = "The compiler does not work here: " + fault,
                     .seconds = seconds()};
    return Verdict{
        .outcome = Outcome::no_build, .message = why_it_stopped(compiler, patience), .seconds = seconds()};
  };
  const fs::path object = check_object(exercise, scratch);
  if (!object.empty() && !fs::exists(object)) {
    const fs::path unfinished = object.string() + ".new.o";  // a compiler that is ended leaves half a file
    if (const auto fault = compile(compile_check(exercise, overlay, unfinished))) return *fault;
    fs::rename(unfinished, object);
  }
  if (const auto fault = compile(compile_program(exercise, overlay, object, program))) return *fault;
  const std::string word = unguessable();
  Verdict verdict =
      read_verdict(run({program.string()}, {.seconds = patience.run, .unwanted = patience.unwanted},
                       word + "\n", {fence, scratch}),
                   word, exercise, patience.run);
  verdict.seconds = seconds();
  return verdict;
}

}  // namespace tinymp::classroom
