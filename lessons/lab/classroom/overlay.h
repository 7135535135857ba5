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
/// A stub, a wrong version or a learner's answer is text that stands in its place. The file with that text
/// put in is written at the same path under another folder, which compilers look into first: the overlay. So
/// nothing is written twice, a stub cannot drift from the file it belongs to, and two exercises may share a
/// file.
namespace tinymp::classroom {

/// The text between the markers of `id`. Throws Error unless `text` has each of them once, in that order.
std::string region_of(std::string_view text, std::string_view id, std::string_view path);

/// What stands in the place of a region, and the file it was read from: compilers name that in their errors.
struct Piece {
  std::string id;
  std::string text, path;
  /// Other words for words outside the region, that are there once: so that the library calls the piece where
  /// it knows a faster way to what the reference gives.
  std::vector<std::pair<std::string, std::string>> replacements{};
};

/// `text`, the file `path` of the library, with the pieces put in.
std::string with_pieces(std::string text, const std::vector<Piece>& pieces, const std::string& path);

}  // namespace tinymp::classroom
