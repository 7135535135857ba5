#include <lessons/lab/learn/commands/predict_subject.h>
#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/data/dataset.h>
#include <tinymp/data/picture_folder.h>
#include <tinymp/data/picture_input.h>
#include <algorithm>
#include <array>
#include <filesystem>

namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> sets{"mnist", "fashion", "cut", "cifar10"};

bool is_of_folder(const train::SavedModel& model) { return data::names_folder(model.data); }

data::PictureStyle style_of(const train::SavedModel& model) {
  if (is_of_folder(model)) return data::PictureStyle::whole;
  return model.data.starts_with("fashion") ? data::PictureStyle::garment : data::PictureStyle::digit;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + excerpt(name, 30);
  return text;
}

std::string shape_text(const data::ImageShape& shape) {
  return concat(shape.rows, " x ", shape.cols, shape.channels == 3 ? " in colour" : " grey");
}

void expect_fits(const std::string& word, const data::ImageShape& shape, const train::SavedModel& model) {
  if (shape == model.shape) return;
  throw UsageError(concat(word, " has images of ", shape_text(shape), ", and ", model.path, " is a model of ",
                          shape_text(model.shape), " images, trained on ",
                          excerpt(model.data.substr(0, model.data.find(" ("))), "; choose ",
                          model.shape.channels == 3 ? "cifar10" : "mnist, fashion or cut",
                          ", or a folder of pictures"));
}

Subject from_set(const std::string& word, const train::SavedModel& model) {
  if (data::names_folder(word) && !is_of_folder(model))
    throw UsageError(
        concat(word,
               ": the model was not trained on a folder of pictures, so no part of this one is its "
               "test part; name the folder itself: ",
               word.substr(data::folder_prefix.size())));
  expect_fits(word, data::image_shape(word), model);
  data::Split split = data::load_images(word);
  if (data::names_folder(word) && split.classes != classes_of(model))
    throw UsageError(concat(word, " has the classes ", listed(split.classes), ", and the model ",
                            listed(classes_of(model))));
  return {.what = concat("the test part of ", word, " (", split.test.count, " images)"),
          .images = std::move(split.test),
          .has_labels = true};
}

/// Pictures on their way to a model.
class Reader {
 public:
  explicit Reader(const train::SavedModel& model) : model_(model) { subject_.images.shape = model.shape; }

  void add(const std::string& path, std::size_t label) {
    const data::PictureInput input =
        data::input_from(data::read_picture(path), model_.shape, path, style_of(model_));
    data::Dataset& all = subject_.images;
    all.images.insert(all.images.end(), input.image.images.begin(), input.image.images.end());
    all.labels.push_back(static_cast<std::uint8_t>(label));
    ++all.count;
    subject_.names.push_back(path);
    subject_.remarks.push_back(input.remark);
    subject_.notes.push_back(input.notes);
  }
  /// One that cannot be read is left out.
  void add_all(const std::vector<std::string>& paths, std::size_t label) {
    for (const std::string& path : paths) {
      try {
        add(path, label);
      } catch (const Error& error) {
        subject_.left_out.emplace_back(error.what());
      }
    }
  }
  Subject& subject() { return subject_; }

 private:
  const train::SavedModel& model_;
  Subject subject_;
};

std::size_t label_of(const std::string& folder, const std::vector<std::string>& classes) {
  const auto found = std::ranges::find(classes, fs::path(folder).filename().string());
  if (found != classes.end()) return static_cast<std::size_t>(found - classes.begin());
  throw UsageError(concat(folder,
                          ": a sub-folder is a class, and the model knows none of this name; it knows ",
                          listed(classes)));
}

Subject from_folder(const std::string& word, const train::SavedModel& model) {
  Reader reader(model);
  const fs::path test = fs::path(word) / "test";
  std::error_code ignored;
  const std::string folder = fs::is_directory(test, ignored) ? test.string() : word;
  const std::vector<std::string> classes = data::folders_in(folder), pictures = data::pictures_in(folder);
  expect(classes.empty() || pictures.empty(), folder,
         ": pictures and sub-folders in it; put all pictures into sub-folders, a class each, or none");
  for (const std::string& path : classes)
    reader.add_all(data::pictures_in(path), label_of(path, classes_of(model)));
  reader.add_all(pictures, 0);
  Subject& subject = reader.subject();
  expect(subject.images.count + static_cast<std::int64_t>(subject.left_out.size()) > 0, folder,
         ": no picture in it; files that end in png, jpg, jpeg, bmp, pgm or ppm are read");
  expect(subject.images.count > 0, folder, ": no picture in it can be taken; the first: ",
         subject.left_out.empty() ? "" : subject.left_out.front());
  subject.what = concat("the ", subject.images.count, subject.images.count == 1 ? " picture" : " pictures",
                        " of ", folder);
  subject.has_labels = !classes.empty();
  return std::move(subject);
}

}  // namespace

std::vector<std::string> classes_of(const train::SavedModel& model) {
  if (!model.classes.empty()) return model.classes;
  if (model.data.starts_with("cifar10"))
    return {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  if (model.data.starts_with("fashion"))
    return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  if (is_of_folder(model)) return {};  // a checkpoint from before names were kept
  return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
}

Subject read_subject(const std::string& word, const train::SavedModel& model) {
  if (std::ranges::find(sets, word) != sets.end() || data::names_folder(word)) return from_set(word, model);
  std::error_code ignored;
  if (!fs::exists(word, ignored))
    throw UsageError(concat("there is no picture or folder ", excerpt(word, 200),
                            ", and no data set of this name (mnist, fashion, cut, cifar10)"));
  if (fs::is_directory(word, ignored)) return from_folder(word, model);
  Reader reader(model);
  reader.add(word, 0);
  reader.subject().what = word;
  reader.subject().is_one = true;
  return std::move(reader.subject());
}

}  // namespace tinymp::lab
