#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Files that are whole or not there: a reader, and a program that is killed at any moment, finds the old
/// contents or the new ones and nothing between.
namespace tinymp::train {

/// Writes `bytes` to `path`.part, waits for the disk (fsync), renames the file to `path` and waits for the
/// folder. An earlier file at `path` keeps its contents until then, and for good when something fails. `what`
/// names the file in a message: "the checkpoint". Throws Error naming path, reason and how to mend it.
void write_atomically(const std::string& what, const std::string& path, std::string_view bytes);

/// Writes all of `bytes` to an open file, in as many calls as it takes. Returns 0, or errno.
int write_all(int file, std::string_view bytes);

/// How far a write has come.
enum class WriteStage : std::uint8_t { opened, half_written, written, renamed };
/// For tests, which delay or end a program inside a write. Called at each stage unless it is null.
inline void (*on_write_stage)(WriteStage) = nullptr;

}  // namespace tinymp::train
