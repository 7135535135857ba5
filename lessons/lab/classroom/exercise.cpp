#include <fmt/format.h>
#include <lessons/lab/classroom/exercise.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/overlay.h>
#include <lessons/lab/learn/command_line.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

/// "1_float_to_half" -> 1
int leading_number(const fs::path& folder) {
  const std::string number = lab::lesson_number(folder.filename().string());
  expect(!number.empty(), folder.string(), ": the folder of an exercise begins with its place, as in 1_name");
  return std::stoi(number);
}

Exercise exercise_in(const fs::path& folder) {
  const fs::path path = folder / "exercise.json";
  Exercise exercise;
  try {
    const nlohmann::json json = nlohmann::json::parse(read_file(path));
    const std::string name = folder.filename().string();
    exercise = {
        .id = name.substr(name.find('_') + 1),
        .chapter = leading_number(folder.parent_path().parent_path()),
        .place = leading_number(folder),
        .folder = folder,
        .title = json.at("title"),
        .piece = json.at("piece"),
        .file = json.at("file"),
        .sources = json.at("sources"),
        .replacements = json.value("replacements", std::vector<std::pair<std::string, std::string>>{}),
        .without = json.value("without", std::vector<std::string>{}),
        .links = json.at("links"),
        .cases = json.at("cases"),
        .stub_says = json.at("stub_says"),
        .hints = json.at("hints"),
        .level = json.at("level"),
        .minutes = json.at("minutes")};
  } catch (const nlohmann::json::exception& error) {
    throw Error(concat(path.string(), ": ", error.what(), "; git checkout brings it back"));
  }
  expect(exercise.hints.size() == 3, path.string(), ": an exercise has three hints");
  return exercise;
}

}  // namespace

fs::path source_folder() { return TINYMP_SOURCE_DIR; }

std::string Exercise::number() const { return fmt::format("{}.{}", chapter, place); }

std::string Exercise::reference() const { return region_of(read_file(source_folder() / file), id, file); }

fs::path Exercise::stub() const { return folder / ("stub" + fs::path(file).extension().string()); }

fs::path Exercise::own_file() const {
  return folder.parent_path().parent_path().filename() / (id + fs::path(file).extension().string());
}

std::vector<Exercise> exercises() {
  std::vector<Exercise> found;
  for (const fs::directory_entry& lesson : fs::directory_iterator(source_folder() / "lessons")) {
    const fs::path folder = lesson.path() / "exercises";
    if (!fs::is_directory(folder)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      found.push_back(exercise_in(entry.path()));
  }
  std::ranges::sort(found, [](const Exercise& a, const Exercise& b) {
    return std::tie(a.chapter, a.place) < std::tie(b.chapter, b.place);
  });
  return found;
}

std::vector<Exercise> exercises_named(const std::string& word) {
  const std::vector<Exercise> all = exercises();
  const std::string digits = lab::lesson_number(word.substr(0, word.find('.')));
  std::vector<Exercise> meant;
  std::vector<std::string> names;
  for (const Exercise& exercise : all) {
    const bool by_chapter = word.find('.') == std::string::npos && digits == std::to_string(exercise.chapter);
    if (by_chapter || word == exercise.number() || word == exercise.id) meant.push_back(exercise);
    names.push_back(exercise.id);
  }
  if (!meant.empty()) return meant;
  const std::string near = lab::nearest(word, names);
  throw UsageError(concat("there is no exercise '", word, "'",
                          near.empty() ? "" : "; did you mean '" + near + "'?",
                          " (./learn check lists them)"));
}

}  // namespace tinymp::classroom
