#include <lessons/lab/classroom/affected_sources.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/judge_cache.h>
#include <lessons/lab/classroom/programs.h>
#include <lessons/lab/classroom/sandbox.h>
#include <tinymp/base/error.h>
#include <tinymp/base/sha256.h>
#include <sstream>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

/// The compiler and its flags. When `overlay` is empty, it compiles the files of the library.
std::vector<std::string> compiler(const fs::path& overlay, const fs::path& headers = {}) {
  // -pthread, which the linker gets, defines a macro; headers that were compiled without it would not be taken.
  std::vector<std::string> command{TINYMP_CXX,          "-std=c++20", "-O2",
                                   "-ffp-contract=off", "-pthread",   "-fno-diagnostics-color"};
  if (!headers.empty()) command.insert(command.end(), {"-include", headers.string()});
  if (!overlay.empty()) command.push_back("-I" + overlay.string());
  command.push_back("-I" + source_folder().string());
  return command;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream lines(read_file(path));
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) all.push_back(line);
  return all;
}

/// The files and flags that the linker gets after the library.
std::vector<std::string> libraries() { return lines_of(TINYMP_LIBRARIES); }

void append(std::vector<std::string>& command, const std::vector<std::string>& words) {
  command.insert(command.end(), words.begin(), words.end());
}

/// The end of the path of a source's object. For a kernel this is the object of its emulation: a check never
/// runs the GPU's object.
std::string object_of(const std::string& source) {
  if (!source.ends_with(".cuh")) return "/" + source + ".o";
  return "/" + source.substr(0, source.rfind('.')) + "_emu.cpp.o";
}

/// The library's objects. Only exercises about kernels of the GPU need the emulation.
std::vector<std::string> objects_for(const Exercise& exercise) {
  const bool is_kernel = exercise.file.starts_with("kernels/cuda/");
  return lines_of(std::string(TINYMP_OBJECTS) + (is_kernel ? ".txt" : "_without_emulation.txt"));
}

/// The name of a file kept for the exercise. It holds a hash of everything the file was made from, so a
/// change gives another name.
std::string name_of(const Exercise& exercise, const char* ending) {
  return exercise.id + "-" + judged_by(exercise).substr(0, 16) + ending;
}

}  // namespace

// clang++ ends with an error when a system header is newer than what it precompiled, so there the text is read each time.
fs::path headers_of([[maybe_unused]] const Exercise& exercise, [[maybe_unused]] const Patience& patience) {
  const fs::path own = source_folder() / "lessons/lab/classroom/standard.h";
#if defined(__GNUC__) && !defined(__clang__)
  const std::string text = read_file(own);
  std::string made_from = text;
  for (const std::string& word : compiler({})) made_from += " " + word;
  for (const char* const file :
       {TINYMP_CXX, TINYMP_SERVER}) {  // a newer system header has the build make the second anew
    std::error_code missing;
    made_from += concat(" ", fs::file_size(file, missing), " ",
                        fs::last_write_time(file, missing).time_since_epoch().count());
  }
  try {
    fs::path headers = judge_cache_file(
        exercise, concat(shared_headers, "-", sha256(made_from).substr(0, 16), ".h.gch"), patience,
        [&](const fs::path& file) {
          std::vector<std::string> command = compiler({});
          command.insert(command.end(), {"-x", "c++-header", "-o", file.string(), own.string()});
          return command;
        });
    headers.replace_extension();  // X.h, which lies beside X.h.gch
    std::error_code missing;
    fs::last_write_time(headers, fs::file_time_type::clock::now(), missing);  // used, like X.h.gch
    if (missing && !fs::exists(headers)) write_file(headers, text);
    return headers;
  } catch (const Unwanted&) {
    throw;
  } catch (const Error&) {  // no room for 70 MB, or no compiler, which the check will say
  }
#endif
  return own;
}

fs::path judge_of(const Exercise& exercise, const Patience& patience) {
  return judge_cache_file(exercise, name_of(exercise, ""), patience, [&](const fs::path& file) {
    std::vector<std::string> command = compiler({}, headers_of(exercise, patience));
    command.insert(command.end(), {"-o", file.string(), TINYMP_JUDGE,
                                   (exercise.folder / "check.cpp").string(), TINYMP_LIBRARY});
    append(command, libraries());
    return command;
  });
}

fs::path server_of(const Exercise& exercise, const Patience& patience) {
  const fs::path source = exercise.folder / "serve.cpp";
  if (!exercise.file.ends_with(".cpp")) return source;
  return judge_cache_file(exercise, name_of(exercise, ".o"), patience, [&](const fs::path& file) {
    std::vector<std::string> command = compiler({}, headers_of(exercise, patience));
    command.insert(command.end(), {"-c", "-o", file.string(), source.string()});
    return command;
  });
}

fs::path library_of(const Exercise& exercise, const Patience& patience) {
  if (!exercise.links) return {};
  return judge_cache_file(exercise, name_of(exercise, ".a"), patience, [&](const fs::path& file) {
    std::vector<std::string> left = objects_for(exercise);
    for (const std::string& source : affected_sources(source_folder(), {exercise.file}))
      std::erase_if(left, [&](const std::string& object) { return object.ends_with(object_of(source)); });
    std::vector<std::string> command{TINYMP_AR, "qcT", file.string()};
    append(command, left);
    return command;
  });
}

std::vector<std::string> compile_submission(const Exercise& exercise, const fs::path& overlay,
                                            const Made& made, const fs::path& program) {
  std::vector<std::string> command = compiler(overlay, made.headers);
  // -s removes the table in which a submission could look up the other functions of the program.
  command.insert(command.end(), {"-s", "-o", program.string(), made.server.string(), TINYMP_SERVER});
  for (const std::string& source : exercise.sources) {
    const fs::path own = overlay / source;
    command.push_back((fs::exists(own) ? own : source_folder() / source).string());
  }
  if (exercise.links) command.push_back(made.library.string());
  append(command, libraries());
  return command;
}

std::vector<fs::path> compiler_reads(const Made& made) {
  const fs::path source = source_folder();
  std::vector<fs::path> paths{source / "tinymp",
                              source / "kernels",
                              source / "lessons",
                              TINYMP_SERVER,
                              made.server,
                              made.headers,
                              made.headers.string() + ".gch"};
  if (!made.library.empty()) paths.insert(paths.end(), {made.library, TINYMP_OBJECT_FOLDER, TINYMP_DISPATCH});
  for (const std::string& word : libraries())
    if (word.front() == '/') paths.push_back(fs::weakly_canonical(word));
  for (const fs::path& path : {fs::path(TINYMP_CXX), fs::weakly_canonical(TINYMP_CXX)})
    if (!path.native().starts_with("/usr/")) paths.push_back(path.parent_path().parent_path());
  // Every fence lets /usr through, and bubblewrap cannot bind anything more into it.
  std::erase_if(paths, [](const fs::path& path) {
    return path == "/" || path.native().starts_with("/usr/") || !fs::exists(path);
  });
  return paths;
}

}  // namespace tinymp::classroom
