#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

/// The exercises. Each one is a folder lessons/NN_name/exercises/I_id with exercise.json, a stub, the check,
/// and wrong.json, which holds versions that the check has to reject.
namespace tinymp::classroom {

struct Exercise {
  std::string id;                  ///< "float_to_half": the name of its region
  int chapter = 0, place = 0;      ///< 1, 1: the first of lesson 01
  std::filesystem::path folder{};  ///< lessons/01_half/exercises/1_float_to_half
  std::string title{};             ///< "A float becomes a half"
  std::string piece{};             ///< the name of its part of the library in a run: "half"
  std::string file{};              ///< the file of the library in which the region lies
  /// Sources that are compiled into the program with the submission, seen through the overlay. Everything
  /// else comes from the library.
  std::vector<std::string> sources{};
  /// Replacements outside the region, made when the learner's text stands in it: see Piece in overlay.h.
  std::vector<std::pair<std::string, std::string>> replacements{};
  /// Kernels of the library that compute the answer: a submission may not name them.
  std::vector<std::string> without{};
  bool links = false;                ///< whether it links the library; otherwise headers are enough
  std::int64_t cases = 0;            ///< number of cases of the check; a test compares the count
  std::string stub_says{};           ///< a regular expression for the failure of the stub
  std::vector<std::string> hints{};  ///< a nudge, where to look, nearly the code
  std::string level{};               ///< "easy", "medium", "hard"
  int minutes = 0;                   ///< a reader of the chapter takes this long for a first try

  std::string number() const;     ///< "1.1"
  std::string reference() const;  ///< the text of the region: the solution
  /// The path of stub.h, stub.cpp or stub.cuh: the ending is that of `file`.
  std::filesystem::path stub() const;
  /// The path of the learner's file inside the workbook: 01_half/float_to_half.h.
  std::filesystem::path own_file() const;
};

/// All exercises, in the order of the course. Throws Error for a folder that holds no valid exercise.
std::vector<Exercise> exercises();

/// The exercises that a word names: "1" or "01" a chapter, "1.2" or "half_to_float" one exercise. Throws
/// UsageError with the nearest name when the word names none.
std::vector<Exercise> exercises_named(const std::string& word);

/// The folder of the sources of tinymp.
std::filesystem::path source_folder();

}  // namespace tinymp::classroom
