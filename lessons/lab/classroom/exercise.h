#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

/// The exercises: folders lessons/NN_name/exercises/I_id with exercise.json, a stub, the check, and
/// wrong.json: versions that it has to reject.
namespace tinymp::classroom {

struct Exercise {
  std::string id;                  ///< "float_to_half": the name of its region
  int chapter = 0, place = 0;      ///< 1, 1: the first of lesson 01
  std::filesystem::path folder{};  ///< lessons/01_half/exercises/1_float_to_half
  std::string title{};             ///< "A float becomes a half"
  std::string piece{};             ///< what a run calls it: "half"
  std::string file{};              ///< of the library, in which the region lies
  /// Compiled into the program with the submission, seen through the overlay; what else it wants comes from
  /// the library.
  std::vector<std::string> sources{};
  /// Words of the file outside the region, and what stands there when the piece is a learner's: overlay.h.
  std::vector<std::pair<std::string, std::string>> replacements{};
  /// Kernels of the library that compute the answer: a submission may not name them.
  std::vector<std::string> without{};
  bool links = false;                ///< does it want anything of the library but headers?
  std::int64_t cases = 0;            ///< of the check: a loop that asks nothing is seen in tests
  std::string stub_says{};           ///< a regular expression: what the stub fails with
  std::vector<std::string> hints{};  ///< a nudge, where to look, nearly the code
  std::string level{};               ///< "easy", "medium", "hard"
  int minutes = 0;                   ///< that a first try takes a reader of the chapter

  std::string number() const;     ///< "1.1"
  std::string reference() const;  ///< what stands in the region: the solution
  /// stub.h, stub.cpp or stub.cuh: as the file in which it stands.
  std::filesystem::path stub() const;
  /// The learner's file: 01_half/float_to_half.h, under the folder of what is theirs.
  std::filesystem::path own_file() const;
};

/// All of them, in the order of the course. Throws Error for a folder that is no exercise.
std::vector<Exercise> exercises();

/// Those that a word means: "1" or "01" a chapter, "1.2" or "half_to_float" one. Throws UsageError when it
/// means none, with the nearest.
std::vector<Exercise> exercises_named(const std::string& word);

/// The sources of tinymp, in which the exercises lie.
std::filesystem::path source_folder();

}  // namespace tinymp::classroom
