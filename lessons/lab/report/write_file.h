#pragma once

#include <span>
#include <string>
#include <string_view>

/// Files that are there as a whole, or as they were before.
namespace tinymp::report {

/// Writes beside `path` first, waits until the disk has it, and then renames it. Throws Error naming `what`,
/// the path, the reason and the way out, the flag `elsewhere`, when the disk is full or the folder read-only;
/// an older file is then as it was. A device or a pipe, /dev/stdout say, is written to as it is.
void write_whole(const std::string& path, std::string_view text, const std::string& what,
                 const std::string& elsewhere = "--out DIR");

/// Throws UsageError when `path`, which `flag` asks to write, is one of the files that were read, or a run log or a
/// checkpoint that is there.
void expect_no_input(const std::string& path, const std::string& flag, std::span<const std::string> read);

}  // namespace tinymp::report
