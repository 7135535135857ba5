#pragma once

#include <string>
#include <string_view>

/// Files that are there as a whole, or as they were before.
namespace tinymp::report {

/// Writes beside `path` first, waits until the disk has it, and then renames it. Throws Error naming `what`,
/// the path, the reason and the way out, the flag `elsewhere`, when the disk is full or the folder read-only;
/// an older file is then as it was.
void write_whole(const std::string& path, std::string_view text, const std::string& what,
                 const std::string& elsewhere = "--out DIR");

}  // namespace tinymp::report
