#pragma once

#include <tinymp/train/checkpoint_model.h>
#include <string>
#include <vector>

/// What ./learn predict asks a model about: a picture, a folder of them, or the test part of a data set.
namespace tinymp::lab {

struct Subject {
  std::string what{};                             ///< "the test part of mnist"
  data::Dataset images{};                         ///< as the model takes them; labels are its outputs
  bool has_labels = false;                        ///< is it known what they show?
  bool is_one = false;                            ///< a single picture
  std::vector<std::string> names{};               ///< of the pictures, in their order; empty for a data set
  std::vector<std::string> remarks{};             ///< what was done to each
  std::vector<std::vector<std::string>> notes{};  ///< sentences on each
  std::vector<std::string> left_out{};            ///< pictures that could not be taken, and why
};

/// The names of a model's classes: those of its folder of pictures, of its data set, or the digits.
std::vector<std::string> classes_of(const train::SavedModel& model);

/// Reads what `word` names: mnist, fashion, cut or cifar10; folder:PATH, the test part of a folder that a model was
/// trained on; a folder, where sub-folders are classes; or a picture. Throws UsageError when there is nothing of this
/// name, when a data set's images do not fit the model, or a sub-folder is none of its classes; Error when a folder has
/// no picture that can be read, or the one picture cannot.
Subject read_subject(const std::string& word, const train::SavedModel& model);

}  // namespace tinymp::lab
