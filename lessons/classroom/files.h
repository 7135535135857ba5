#pragma once

#include <filesystem>
#include <string>

/// Whole files at a time; what goes wrong is said with the path.
namespace tinymp::classroom {

std::string read_file(const std::filesystem::path& path);
/// Makes the folder when it is not there. The old file stays until the new one is whole.
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace tinymp::classroom
