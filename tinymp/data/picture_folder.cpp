#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/picture.h>
#include <tinymp/data/picture_folder.h>
#include <tinymp/data/resize.h>
#include <tinymp/data/split.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

namespace tinymp::data {
namespace {

namespace fs = std::filesystem;

struct Class {
  std::string name;
  std::vector<fs::path> pictures{};  ///< in the order of their names
};

/// What lies in a folder, without reading a picture.
struct Listing {
  std::string name{};                  ///< "folder:photos"
  std::vector<Class> train{}, test{};  ///< test: empty without train/ and test/
};

bool is_picture(const fs::path& path) {
  constexpr std::array<std::string_view, 6> endings = {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm"};
  std::string ending = path.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::find(endings, ending) != endings.end();
}

std::vector<fs::path> visible(const fs::path& folder, bool folders) {
  std::error_code failure;
  std::vector<fs::path> found;
  fs::directory_iterator entries(folder, failure);
  for (; !failure && entries != fs::directory_iterator(); entries.increment(failure)) {
    std::error_code ignored;
    const fs::path& path = entries->path();
    if (path.filename().string().starts_with(".") || fs::is_directory(path, ignored) != folders) continue;
    if (folders || is_picture(path)) found.push_back(path);
    expect(static_cast<std::int64_t>(found.size()) <= most_folder_pictures, folder.string(), ": more than ",
           most_folder_pictures, " entries; take fewer");
  }
  expect(!failure, folder.string(), ": cannot be read: ", failure.message());
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> texts_of(const std::vector<fs::path>& paths) {
  std::vector<std::string> texts;
  for (const fs::path& path : paths) texts.push_back(path.string());
  return texts;
}

std::vector<Class> classes_in(const fs::path& folder) {
  std::vector<Class> classes;
  const std::vector<fs::path> folders = visible(folder, true);
  expect(folders.size() >= 2, folder.string(), ": ", folders.size(),
         folders.size() == 1 ? " folder" : " folders",
         " in it; put the pictures of each class into a folder of its own, two classes at least");
  expect(folders.size() <= image_classes, folder.string(), ": ", folders.size(),
         " folders in it, so as many classes; at most ", image_classes,
         " are taken, since each model has so many outputs");
  std::int64_t count = 0;
  for (const fs::path& path : folders) {
    classes.push_back({path.filename().string(), visible(path, false)});
    expect(!classes.back().pictures.empty(), path.string(),
           ": no picture in it; those that end in png, jpg, jpeg, bmp, pgm or ppm are read");
    count += static_cast<std::int64_t>(classes.back().pictures.size());
  }
  expect(count <= most_folder_pictures, folder.string(), ": ", count, " pictures; at most ",
         most_folder_pictures, " are read");
  return classes;
}

fs::path path_in(const std::string& name) {
  const std::string path = name.substr(folder_prefix.size());
  if (path.empty()) throw UsageError("folder: wants the path of a folder: folder:photos");
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home != nullptr ? fs::path(home) / path.substr(2) : fs::path(path);
}

Listing list(const std::string& name) {
  const fs::path folder = path_in(name);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw MissingError(concat(folder.string(),
                              ": no such folder; --data folder:PATH wants one with a folder of "
                              "pictures for each class"));
  const std::string last = fs::absolute(folder).lexically_normal().filename().string();
  Listing found{concat(folder_prefix, last.empty() ? fs::canonical(folder).filename().string() : last)};
  const bool is_split =
      fs::is_directory(folder / "train", ignored) && fs::is_directory(folder / "test", ignored);
  found.train = classes_in(is_split ? folder / "train" : folder);
  if (!is_split) return found;
  found.test = classes_in(folder / "test");
  for (const Class& one : found.test)
    expect(std::ranges::find(found.train, one.name, &Class::name) != found.train.end(), folder.string(),
           ": test/", one.name, " is a class that train/ lacks");
  return found;
}

/// The name of each label.
std::vector<std::string> names_of(const std::vector<Class>& classes) {
  const bool are_digits = std::ranges::all_of(classes, [](const Class& one) {
    return one.name.size() == 1 && one.name[0] >= '0' && one.name[0] <= '9';
  });
  if (are_digits) return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  std::vector<std::string> names;
  for (const Class& one : classes) names.push_back(one.name);
  return names;
}

ImageShape shape_of(const Listing& listing) {
  std::size_t coloured = 0;
  for (const Class& one : listing.train)
    coloured += is_coloured(read_picture(one.pictures.front().string())) ? 1 : 0;
  return 2 * coloured > listing.train.size() ? ImageShape{32, 32, 3} : ImageShape{};
}

/// Reads pictures into a set, one after another.
class Reader {
 public:
  Reader(const Listing& listing)
      : name_(listing.name), shape_(shape_of(listing)), names_(names_of(listing.train)) {}

  Dataset empty() const { return {name_, 0, {}, {}, shape_}; }

  void add(Dataset& set, const std::string& class_name, std::span<const fs::path> pictures) {
    const auto label = std::ranges::find(names_, class_name) - names_.begin();
    for (const fs::path& path : pictures) {
      const Picture picture = read_picture(path.string());
      const bool fits = picture.shape.rows == shape_.rows && picture.shape.cols == shape_.cols;
      const Picture image = shape_.channels == 3 ? colour_32x32(picture) : grey_28x28(picture);
      set.images.insert(set.images.end(), image.pixels.begin(), image.pixels.end());
      set.labels.push_back(static_cast<std::uint8_t>(label));
      ++set.count;
      ++count_;
      resized_ += fits ? 0 : 1;
    }
  }

  std::string remark() const {
    std::string all;
    for (const std::string& name : names_) all += (all.empty() ? "" : ", ") + excerpt(name, 30);
    return concat(shape_.rows, " x ", shape_.cols, shape_.channels == 3 ? " in colour, " : " grey, ",
                  resized_, " of ", count_, " pictures resized; classes: ", all);
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string name_;
  ImageShape shape_;
  std::vector<std::string> names_;
  std::int64_t count_ = 0, resized_ = 0;
};

/// Takes a sixth of each class for the test part: one at least, none of a single picture.
std::vector<Class> taken_for_test(std::vector<Class>& train) {
  std::vector<Class> test;
  std::uint64_t number = 0;
  for (Class& one : train) {
    constexpr std::uint64_t split_seed = 0;  // as of validation: the split belongs to the data
    Rng(split_seed).split(number++).shuffle(std::span(one.pictures));
    const std::size_t all = one.pictures.size(), taken = all < 2 ? 0 : std::max<std::size_t>(1, all / 6);
    const auto first = one.pictures.end() - static_cast<std::ptrdiff_t>(taken);
    test.push_back({one.name, {first, one.pictures.end()}});
    one.pictures.erase(first, one.pictures.end());
    std::ranges::sort(one.pictures);
    std::ranges::sort(test.back().pictures);
  }
  return test;
}

std::int64_t count_of(const std::vector<Class>& classes) {
  std::int64_t count = 0;
  for (const Class& one : classes) count += static_cast<std::int64_t>(one.pictures.size());
  return count;
}

}  // namespace

Split load_picture_folder(const std::string& name) {
  Listing listing = list(name);
  Reader reader(listing);
  if (listing.test.empty()) listing.test = taken_for_test(listing.train);
  expect(count_of(listing.train) >= 2 && count_of(listing.test) >= 1, listing.name,
         ": too few pictures to train, choose and test with; add some to each class");
  Dataset all = reader.empty(), test = reader.empty();
  for (const Class& one : listing.train) reader.add(all, one.name, one.pictures);
  for (const Class& one : listing.test) reader.add(test, one.name, one.pictures);
  Split split = split_off_validation(all, std::move(test), 1);
  split.classes = reader.names();
  split.remark = reader.remark();
  return split;
}

std::vector<std::string> pictures_in(const std::string& folder) { return texts_of(visible(folder, false)); }
std::vector<std::string> folders_in(const std::string& folder) { return texts_of(visible(folder, true)); }

ImageShape picture_folder_shape(const std::string& name) { return shape_of(list(name)); }

std::int64_t count_pictures(const std::string& name) {
  const Listing listing = list(name);
  return count_of(listing.train) + count_of(listing.test);
}

}  // namespace tinymp::data
