#include <unistd.h>

#include <fmt/format.h>
#include <lessons/lab/classroom/affected_sources.h>
#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/judge_cache.h>
#include <lessons/lab/classroom/overlay.h>
#include <lessons/lab/classroom/verdict.h>
#include <lessons/lab/classroom/workbook.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/terminal.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

// ./learn run N --mine: makes the overlay from all pieces of the learner that pass. For a piece that does not
// pass the reference stays, and a message says so. The launcher then builds with the overlay
// (cmake/Overlay.cmake).
namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

constexpr const char* names_pieces = "tinymp/train/pieces.cpp";

/// Keeps texts that passed in the overlay's folder judged/. A text is judged again only when it, the file of
/// the library, or the check has changed.
class VerdictCache {
 public:
  explicit VerdictCache(fs::path folder) : folder_(std::move(folder)) {}

  /// Empty when the text passes, otherwise one line that says what is wrong.
  std::string fault(const Exercise& exercise, const std::string& text, const std::string& path) const {
    const fs::path known = folder_ / exercise.own_file();
    const std::string all = text + read_file(source_folder() / exercise.file) + judged_by(exercise) + "\n";
    if (fs::exists(known) && read_file(known) == all) return "";
    const Verdict verdict = judge(exercise, text, path, scratch_.path());
    if (verdict.outcome == Verdict::Outcome::machine) throw MissingError(verdict.message);
    if (!verdict.passed()) return verdict.message.substr(0, verdict.message.find('\n'));
    write_file(known, all);
    return "";
  }

 private:
  fs::path folder_;
  ScratchFolder scratch_{"mine"};
};

/// The number of exercises of a piece, and how many of them the learner has written.
struct Count {
  std::string piece;
  int all = 0, own = 0;
};

/// "half: YOURS | scaler: REFERENCE"
std::string describe(const std::vector<Count>& counts) {
  std::string text;
  for (const Count& count : counts) {
    text += (text.empty() ? "" : " | ") + count.piece + (count.own > 0 ? ": YOURS" : ": REFERENCE");
    if (count.own > 0 && count.own < count.all) text += fmt::format(" ({} of its {})", count.own, count.all);
  }
  return text;
}

/// The list for cmake/Overlay.cmake, which compiles these sources and takes all other objects from the
/// ordinary build.
std::string list_for_cmake(const std::vector<std::string>& sources) {
  std::string text = "set(TINYMP_TOUCHED";
  for (const std::string& source : sources) text += "\n  " + source;
  return text + ")\n";
}

/// Does not touch a file that holds the text already, so that nothing is compiled again.
void update(const fs::path& path, const std::string& text) {
  if (!fs::exists(path) || read_file(path) != text) write_file(path, text);
}

}  // namespace

int overlay(int argc, const char* const* argv) {
  std::string folder;
  CLI::App app("Puts the pieces of yours that pass together; ./learn run N --mine builds with them.",
               "classroom overlay");
  app.add_option("DIR", folder, "Where they are put together")->required();
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  const Workbook workbook(workbook_folder());
  const VerdictCache judged(fs::path(folder) / "judged");
  std::map<std::string, std::vector<Piece>> pieces;  // by file of the library that has exercises
  std::vector<Count> counts;
  for (const Exercise& exercise : exercises()) {
    auto count = std::ranges::find(counts, exercise.piece, &Count::piece);
    if (count == counts.end()) count = counts.insert(count, {exercise.piece});
    ++count->all;
    std::vector<Piece>& of_file = pieces[exercise.file];
    if (!workbook.has(exercise)) continue;
    const std::string path = workbook.path(exercise).string(), text = read_file(path);
    if (text == read_file(exercise.stub())) continue;
    if (const std::string fault = judged.fault(exercise, text, path); !fault.empty()) {
      std::cerr << lab::fitted_for_errors(
          fmt::format("{}: YOURS IS NOT RIGHT, the REFERENCE takes its place.\n  {}\n  ./learn check {}\n",
                      exercise.piece, fault, exercise.number()));
      continue;
    }
    ++count->own;
    of_file.push_back({exercise.id, text, path, exercise.replacements});
  }
  const bool none = std::ranges::all_of(counts, [](const Count& count) { return count.own == 0; });
  expect(!none, "none of yours passes yet, so there is nothing to train with: ./learn check begins one");
  // Writes all files that have exercises, so that a file that becomes the learner's later lies where
  // compilers looked for it before.
  std::vector<std::string> changed{names_pieces};
  for (const auto& [file, of_file] : pieces) {
    if (!of_file.empty()) changed.push_back(file);
    const fs::path original = source_folder() / file;
    update(fs::path(folder) / file, with_pieces(read_file(original), of_file, original.string()));
  }
  update(fs::path(folder) / names_pieces,
         fmt::format("#include <tinymp/train/provenance.h>\n\nnamespace tinymp::train {{\n\n"
                     "std::string pieces() {{ return \"{}\"; }}\n\n}}  // namespace tinymp::train\n",
                     describe(counts)));
  update(fs::path(folder) / "touched.cmake", list_for_cmake(affected_sources(source_folder(), changed)));
  for (const std::string& line : report::wrap(describe(counts), 80)) std::cerr << line << "\n";
  return 0;
}

}  // namespace tinymp::classroom
