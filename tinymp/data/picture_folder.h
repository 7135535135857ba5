#pragma once

#include <tinymp/data/dataset.h>
#include <string_view>

/// A folder of pictures as a set of images: a sub-folder for each class.
///
///   photos/cat/*.png         or   photos/train/cat/*.png   photos/test/cat/*.png
///   photos/dog/*.jpg              photos/train/dog/*.jpg   photos/test/dog/*.jpg
///
/// Files that end in png, jpg, jpeg, bmp, pgm or ppm are pictures (picture.h); any other file, and what begins
/// with a dot, is left alone. The label of a class is its place in the order of the names; where all names are
/// digits 0 .. 9, the label is the digit. With neither train/ nor test/ a sixth of each class, drawn by a fixed
/// seed, is the test part. Validation is a tenth of the rest, at least one picture.
///
/// Where the first pictures of more than half of the classes are coloured (is_coloured), all become 32 x 32 in
/// colour: the square in the middle, resized. Else they become 28 x 28 grey: the whole picture, resized, filled up
/// to a square.
namespace tinymp::data {

inline constexpr std::string_view folder_prefix = "folder:";
inline constexpr std::int64_t most_folder_pictures = 200'000;

/// True for "folder:PATH".
inline bool names_folder(std::string_view name) { return name.starts_with(folder_prefix); }

// All three take "folder:PATH"; "~/" at the beginning of PATH is the user's home. They throw UsageError for an empty
// PATH, MissingError when there is no such folder, Error for fewer than 2 or more than image_classes classes, a
// class without a picture, a test class that train/ lacks, more than most_folder_pictures, and as read_picture does.

/// Reads all pictures. The sets are called "folder:" and the last part of PATH; the remark of the split tells the
/// shape, how many pictures were resized, and the classes.
Split load_picture_folder(const std::string& name);

/// The files in a folder that are pictures by their names, or the folders in it, in order of name; what begins with a
/// dot is left out. Throws Error when the folder cannot be read or holds more than most_folder_pictures.
std::vector<std::string> pictures_in(const std::string& folder);
std::vector<std::string> folders_in(const std::string& folder);

/// Decides between grey and colour: reads the first picture of each class.
ImageShape picture_folder_shape(const std::string& name);

/// Counts the files; reads none.
std::int64_t count_pictures(const std::string& name);

}  // namespace tinymp::data
