#include <lessons/lab/classroom/overlay.h>
#include <tinymp/base/error.h>
#include <algorithm>

namespace tinymp::classroom {
namespace {

/// The lines between the markers: begin and end.
struct Span {
  std::size_t begin, end;
};

std::size_t only_position(std::string_view text, const std::string& marker, std::string_view path) {
  const std::size_t position = text.find(marker);
  expect(position != std::string_view::npos && text.find(marker, position + 1) == std::string_view::npos,
         path, ": the line '", marker, "' has to be there once; git checkout ", path, " brings it back");
  return position;
}

Span span_of(std::string_view text, std::string_view id, std::string_view path) {
  const std::string open = concat("// <exercise ", id, ">\n"), close = concat("// </exercise ", id, ">\n");
  const std::size_t begin = only_position(text, open, path) + open.size();
  std::size_t end = only_position(text, close, path);
  expect(begin <= end, path, ": the markers of exercise ", id, " are in the wrong order; git checkout ", path,
         " puts them right");
  while (end > begin && text[end - 1] != '\n') --end;  // the marker may be indented
  return {begin, end};
}

std::string line_directive(std::int64_t line, const std::string& path) {
  return concat("#line ", line, " \"", path, "\"\n");
}

}  // namespace

std::string region_of(std::string_view text, std::string_view id, std::string_view path) {
  const auto [begin, end] = span_of(text, id, path);
  return std::string(text.substr(begin, end - begin));
}

std::string with_pieces(std::string text, const std::vector<Piece>& pieces, const std::string& path) {
  for (const Piece& piece : pieces) {
    for (const auto& [from, to] : piece.replacements) {
      if (text.find(to) != std::string::npos) continue;  // another piece of this file replaced it
      text.replace(only_position(text, from, path), from.size(), to);
    }
  }
  const std::string original = text;
  for (const Piece& piece : pieces) {
    const std::size_t after = span_of(original, piece.id, path).end;
    const auto line =
        1 + std::ranges::count(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(after), '\n');
    const auto [begin, end] = span_of(text, piece.id, path);
    const std::string newline = piece.text.empty() || piece.text.back() == '\n' ? "" : "\n";
    text.replace(begin, end - begin,
                 concat(line_directive(1, piece.path), piece.text, newline, line_directive(line, path)));
  }
  return text;
}

}  // namespace tinymp::classroom
