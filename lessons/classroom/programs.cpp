#include <unistd.h>

#include <lessons/classroom/files.h>
#include <lessons/classroom/judged_by.h>
#include <lessons/classroom/process.h>
#include <lessons/classroom/programs.h>
#include <tinymp/base/error.h>
#include <sstream>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

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

/// A file that is kept under this name: in the build folder, or for this process alone where that cannot be
/// written. `command` makes it, as the file that it is given.
template <class Command>
fs::path kept(const Exercise& exercise, const std::string& name, const Patience& patience,
              const Command& command) {
  std::error_code failed;
  fs::create_directories(TINYMP_JUDGES, failed);
  fs::path folder = TINYMP_JUDGES;
  if (!fs::exists(folder / name) && access(folder.c_str(), W_OK) != 0) {
    static const Scratch own("judges");  // where no submission looks
    folder = own.path();
  }
  const fs::path file = folder / name;
  if (fs::exists(file)) return file;
  const fs::path unfinished = concat(file.string(), ".", getpid(), ".o");
  const Finished compiled = run(command(unfinished), {.seconds = 300, .unwanted = patience.unwanted});
  expect(compiled.code == 0, "the judge of exercise ", exercise.number(), " does not compile here:\n",
         compiled.output.substr(0, 2000));
  // Another may have made it meanwhile, and a fence may hold that one: it is not replaced. (Some file systems
  // have no links.)
  fs::create_hard_link(unfinished, file, failed);
  if (failed && !fs::exists(file)) fs::rename(unfinished, file);
  fs::remove(unfinished, failed);
  return file;
}

}  // namespace

fs::path judge_of(const Exercise& exercise, const Patience& patience) {
  const std::string name = exercise.id + "-" + judged_by(exercise).substr(0, 16);
  return kept(exercise, name, patience, [&](const fs::path& file) {
    std::vector<std::string> command = compiler({});
    command.insert(command.end(), {"-o", file.string(), TINYMP_JUDGE,
                                   (exercise.folder / "check.cpp").string(), TINYMP_LIBRARY});
    add_libraries(command);
    return command;
  });
}

fs::path server_of(const Exercise& exercise, const Patience& patience) {
  const fs::path source = exercise.folder / "serve.cpp";
  if (!exercise.file.ends_with(".cpp")) return source;
  const std::string name = exercise.id + "-" + judged_by(exercise).substr(0, 16) + ".o";
  return kept(exercise, name, patience, [&](const fs::path& file) {
    std::vector<std::string> command = compiler({});
    command.insert(command.end(), {"-c", "-o", file.string(), source.string()});
    return command;
  });
}

std::vector<std::string> compile_submission(const Exercise& exercise, const fs::path& overlay,
                                            const fs::path& server, const fs::path& program) {
  std::vector<std::string> command = compiler(overlay);
  command.insert(command.end(), {"-o", program.string(), server.string(), TINYMP_SERVER});
  for (const std::string& source : exercise.sources) {
    const fs::path own = overlay / source;
    command.push_back((fs::exists(own) ? own : source_folder() / source).string());
  }
  if (exercise.links) command.emplace_back(TINYMP_LIBRARY);
  add_libraries(command);
  return command;
}

std::vector<fs::path> compiler_reads(const fs::path& server) {
  const fs::path source = source_folder();
  std::vector<fs::path> paths{source / "tinymp", source / "kernels", source / "lessons",
                              TINYMP_SERVER,     TINYMP_LIBRARY,     server};
  for (const fs::path& path : {fs::path(TINYMP_CXX), fs::canonical(TINYMP_CXX)})
    if (path.native().rfind("/usr/", 0) != 0) paths.push_back(path.parent_path().parent_path());
  std::erase_if(paths, [](const fs::path& path) { return path == "/" || !fs::exists(path); });
  return paths;
}

}  // namespace tinymp::classroom
