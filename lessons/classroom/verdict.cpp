#include <unistd.h>

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

/// Without an overlay it compiles what the library has.
std::vector<std::string> compiler(const fs::path& overlay) {
  std::vector<std::string> command{TINYMP_CXX, "-std=c++20", "-O2", "-ffp-contract=off",
                                   "-fno-diagnostics-color"};
  if (!overlay.empty()) command.push_back("-I" + overlay.string());
  command.push_back("-I" + source_folder().string());
  return command;
}

void add_libraries(std::vector<std::string>& command) {
  std::istringstream libraries(TINYMP_LIBRARIES);
  for (std::string library; libraries >> library;) command.push_back(library);
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
                  TINYMP_SEALED,  // first: what it does before main() comes before all else
                  object.empty() ? (exercise.folder / "check.cpp").string() : object.string()});
  for (const std::string& source : exercise.sources) {
    const fs::path own = overlay / source;
    command.push_back((fs::exists(own) ? own : source_folder() / source).string());
  }
  if (exercise.links) command.emplace_back(TINYMP_LIBRARY);
  add_libraries(command);
  return command;
}

// ---- An exercise with serve.cpp: two programs.

bool is_served(const Exercise& exercise) { return fs::exists(exercise.folder / "serve.cpp"); }

/// The program with the submission in it.
std::vector<std::string> compile_server(const Exercise& exercise, const fs::path& overlay,
                                        const fs::path& program) {
  std::vector<std::string> command = compiler(overlay);
  command.insert(command.end(),
                 {"-o", program.string(), (exercise.folder / "serve.cpp").string(), TINYMP_SERVER});
  for (const std::string& source : exercise.sources) {
    const fs::path own = overlay / source;
    command.push_back((fs::exists(own) ? own : source_folder() / source).string());
  }
  if (exercise.links) command.emplace_back(TINYMP_LIBRARY);
  add_libraries(command);
  return command;
}

/// What a judge is made of: another text, or another library, and it is made anew.
std::string contents_of_judge(const Exercise& exercise) {
  std::string all = TINYMP_CXX;
  for (const fs::path& folder : {exercise.folder, source_folder() / "lessons/classroom"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".h" || entry.path().filename() == "check.cpp")
        all += sha256(entry.path().filename().string() + read_file(entry.path())) + "\n";
  for (const fs::path path : {TINYMP_LIBRARY, TINYMP_JUDGE})
    all += concat(fs::file_size(path), " ", fs::last_write_time(path).time_since_epoch().count(), "\n");
  return sha256(all);
}

/// Made where it is not there yet: in the build folder, or for this time alone where that cannot be written.
fs::path judge_of(const Exercise& exercise, const Patience& patience) {
  const std::string name = exercise.id + "-" + contents_of_judge(exercise).substr(0, 16);
  std::error_code failed;
  fs::create_directories(TINYMP_JUDGES, failed);
  fs::path folder = TINYMP_JUDGES;
  if (!fs::exists(folder / name) && access(folder.c_str(), W_OK) != 0) {
    static const Scratch own("judges");  // where no submission looks
    folder = own.path();
  }
  const fs::path program = folder / name;
  if (fs::exists(program)) return program;
  const fs::path unfinished = concat(program.string(), ".", getpid());
  std::vector<std::string> command = compiler({});
  command.insert(command.end(), {"-o", unfinished.string(), TINYMP_JUDGE,
                                 (exercise.folder / "check.cpp").string(), TINYMP_LIBRARY});
  add_libraries(command);
  const Finished compiled = run(command, {.seconds = 5 * patience.compile, .unwanted = patience.unwanted});
  expect(compiled.code == 0, "the judge of exercise ", exercise.number(), " does not compile here:\n",
         compiled.output.substr(0, 2000));
  fs::rename(unfinished, program);
  return program;
}

/// What a compiler sees behind a fence, beside the folders of the system.
std::vector<fs::path> compiler_reads() {
  const fs::path source = source_folder();
  std::vector<fs::path> paths{source / "tinymp", source / "kernels", source / "lessons",
                              TINYMP_SEALED,     TINYMP_SERVER,      TINYMP_LIBRARY};
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

std::string why_it_ended(const Finished& finished, const std::string& asked, double seconds) {
  std::string why;
  if (finished.out_of_time)
    why = concat("It was still running after ", seconds, " s: a loop that never ends?");
  else if (finished.out_of_memory)
    why = "It took more memory than there is for a check.";
  else if (finished.signal != 0)
    why = concat("It crashed: ", strsignal(finished.signal), ".");
  else
    why = concat("It ended with exit code ", finished.code, " before it was judged: does it call exit()?");
  return asked.empty() ? why : why + "\n" + asked;
}

/// What the judge has said; what it has not, the end of the program with the submission tells.
Verdict read_judge(const std::string& said, const Finished& finished, const Patience& patience) {
  const std::size_t line = std::min(said.find('\n'), said.size());
  const std::string outcome = said.substr(0, line), rest = said.substr(std::min(line + 1, said.size()));
  Verdict verdict{.printed = finished.output};
  if (outcome == "passed") {
    verdict.outcome = Outcome::passed;
    verdict.cases = std::stoll(rest);
  } else if (outcome == "wrong") {
    verdict.outcome = Outcome::wrong;
    verdict.message = rest;
  } else if (outcome == "threw") {
    verdict.message = "It threw: " + rest;
  } else if (outcome == "malformed") {
    verdict.message = "What came back is no answer: " + rest + ". Does it write to file 3?";
  } else if (outcome == "gone" || finished.out_of_time || finished.out_of_memory) {
    verdict.message = why_it_ended(finished, rest, patience.run);
  } else {
    verdict.outcome = Outcome::machine;
    verdict.message = "The judge ended without a verdict.";
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
  if (is_served(exercise)) {
    const fs::path judge = judge_of(exercise, patience);
    if (const auto fault = compile(compile_server(exercise, overlay, program))) return *fault;
    const std::uint64_t seed = patience.seed.value_or(std::random_device{}());
    Link link;
    Companion companion({judge.string(), std::to_string(seed)}, link);
    const Finished finished = run_linked(
        {program.string()}, {.seconds = patience.run, .unwanted = patience.unwanted}, link, {fence, scratch});
    Verdict verdict = read_judge(companion.output(patience.run), finished, patience);
    verdict.seed = seed;
    verdict.seconds = seconds();
    return verdict;
  }
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
