#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// An exercise is a marked region of a file of the library:
///
///     // <exercise float_to_half>
///     ... the reference, which is the solution ...
///     // </exercise float_to_half>
///
/// The text of a stub, a wrong version or a learner's answer replaces the region. The resulting file is
/// written at the same path under another folder, the overlay, which compilers search first. So nothing is
/// written twice, a stub cannot drift from its file, and two exercises may share a file.
namespace tinymp::classroom {

/// The text between the markers of `id`. Throws Error unless `text` has each of them once, in that order.
std::string region_of(std::string_view text, std::string_view id, std::string_view path);

/// A text that replaces a region, and the file it was read from: compilers name that file in their errors.
struct Piece {
  std::string id;
  std::string text, path;
  /// (from, to): `from` is text outside the region that occurs once, and `to` replaces it. So the library
  /// calls the piece where it otherwise takes a faster way to the same result.
  std::vector<std::pair<std::string, std::string>> replacements{};
};

/// Returns `text`, which is the file `path` of the library, with the pieces put in.
std::string with_pieces(std::string text, const std::vector<Piece>& pieces, const std::string& path);

}  // namespace tinymp::classroom
