#include <fmt/format.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/wrong_versions.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <nlohmann/json.hpp>

namespace tinymp::classroom {
namespace {

using Json = nlohmann::json;

/// A string, or an array of lines.
std::string text_of(const Json& json) {
  if (json.is_string()) return json;
  return fmt::format("{}", fmt::join(json.get<std::vector<std::string>>(), "\n"));
}

struct Span {
  std::size_t begin, end, edit;  ///< positions in the reference; index of the edit
};

Span span_of(std::string_view reference, const std::string& from, std::size_t edit, const std::string& name) {
  const std::size_t begin = from.empty() ? reference.npos : reference.find(from);
  expect(begin != reference.npos, name, ", edit ", edit + 1, ": the reference does not hold '", from, "'");
  expect(reference.find(from, begin + 1) == reference.npos, name, ", edit ", edit + 1,
         ": the reference holds '", from, "' more than once; make it longer");
  return {begin, begin + from.size(), edit};
}

}  // namespace

std::string edited(std::string_view reference, const std::vector<Edit>& edits, const std::string& name) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < edits.size(); ++i) spans.push_back(span_of(reference, edits[i].first, i, name));
  std::ranges::sort(spans, {}, &Span::begin);
  std::string text;
  std::size_t done = 0;
  for (const Span& span : spans) {
    expect(span.begin >= done, name, ", edit ", span.edit + 1, ": overlaps another edit");
    text += reference.substr(done, span.begin - done);
    text += edits[span.edit].second;
    done = span.end;
  }
  return text += reference.substr(done);
}

std::vector<WrongVersion> wrong_versions(const Exercise& exercise) {
  const std::filesystem::path path = exercise.folder / "wrong.json";
  const std::string reference = exercise.reference();
  std::vector<WrongVersion> versions;
  try {
    const Json all = Json::parse(read_file(path));
    for (const auto& [name, json] : all.items()) {
      WrongVersion version{name, json.at("says"), ""};
      if (json.contains("file")) {
        version.text = read_file(exercise.folder / json.at("file").get<std::string>());
      } else {
        std::vector<Edit> edits;
        for (const Json& edit : json.at("edits"))
          edits.emplace_back(text_of(edit.at(0)), text_of(edit.at(1)));
        version.text = edited(reference, edits, concat(exercise.number(), " ", exercise.id, ", ", name));
      }
      versions.push_back(std::move(version));
    }
  } catch (const Json::exception& error) {
    throw Error(concat(path.string(), ": ", error.what()));
  }
  expect(!versions.empty(), path.string(), " holds no wrong version; git checkout brings them back");
  return versions;
}

}  // namespace tinymp::classroom
