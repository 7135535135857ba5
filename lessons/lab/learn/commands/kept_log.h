#pragma once

#include <tinymp/base/error.h>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace tinymp::lab {

/// What is printed, and in a file beside `path`, which takes the place of an earlier log once it is whole.
class KeptLog {
 public:
  /// An empty path: printed alone. Throws Error where nothing can be written.
  explicit KeptLog(const std::string& path) : path_(path), part_(path + ".part") {
    if (path_.empty()) return;
    expect(!std::filesystem::is_directory(path_), "cannot write ", path_, ": it is a folder; name a file");
    file_.open(part_);
    expect(file_.good(), "cannot write ", path_, ": is the folder there, and the disk not full?");
  }
  void write(const std::string& text) {
    std::cout << text << std::flush;
    if (file_.is_open()) file_ << text << std::flush;
  }
  void finish() {
    if (path_.empty()) return;
    file_.close();
    expect(file_.good() && std::rename(part_.c_str(), path_.c_str()) == 0, "cannot write all of ", path_,
           ": is the disk full?");
  }

 private:
  std::string path_, part_;
  std::ofstream file_;
};

}  // namespace tinymp::lab
