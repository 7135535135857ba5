#include <tests/catch.h>
#include <tests/data/picture_files.h>
#include <tinymp/base/error.h>
#include <tinymp/data/loader.h>
#include <tinymp/data/picture_folder.h>
#include <set>

using namespace tinymp;
using data::Split;
using files::Bytes;

namespace {

/// A picture of one level, in a format that goes by turns, of a size that does, too.
void add_picture(const std::string& stem, int number, std::uint8_t level, bool is_coloured = false) {
  const std::uint32_t rows = number % 3 == 0 ? 28 : 20 + static_cast<std::uint32_t>(number), cols = 28;
  Bytes pixels(rows * cols * 3, level);
  if (is_coloured)
    for (std::size_t i = 0; i < pixels.size(); i += 3) pixels[i] = 255;
  const Bytes grey(rows * cols, level);
  if (number % 2 == 0) files::write(stem + ".bmp", picture_files::bmp(rows, cols, pixels));
  if (number % 2 == 1 && is_coloured)
    files::write(stem + ".PNG", picture_files::png({.cols = cols, .rows = rows, .kind = 2, .lines = pixels}));
  if (number % 2 == 1 && !is_coloured)
    files::write(stem + ".pgm", picture_files::pnm(concat("P5 ", cols, " ", rows, " 255\n"), grey));
}

void add_class(const std::string& folder, int count, std::uint8_t level, bool is_coloured = false) {
  for (int i = 0; i < count; ++i) add_picture(concat(folder, "/", i), i, level, is_coloured);
}

std::string refusal(const std::string& name) {
  return files::message<Error>([&] { data::load_images(name); });
}

}  // namespace

TEST_CASE("picture folder: classes by sub-folder, grey, mixed sizes, a fixed split") {
  const files::Folder folder;
  add_class(folder / "set/dog", 12, 200);
  add_class(folder / "set/cat", 12, 100);
  files::write(folder / "set/cat/notes.txt", {'x'});
  files::write(folder / "set/.hidden/a.png", {'x'});
  const std::string name = "folder:" + (folder / "set");
  CHECK(data::image_shape(name) == data::ImageShape{});
  CHECK(data::count_images(name) == 24);
  const Split split = data::load_images(name);
  CHECK(split.classes == std::vector<std::string>{"cat", "dog"});
  CHECK(data::describe(split) ==
        "folder:set (18 train, 2 validation, 4 test): 28 x 28 grey, 14 of 24 pictures resized; classes: cat, "
        "dog");
  CHECK(split.train.name == "folder:set");
  for (const data::Dataset* set : {&split.train, &split.validation, &split.test}) {
    REQUIRE(set->images.size() == static_cast<std::size_t>(set->count) * 784);
    for (std::int64_t i = 0; i < set->count; ++i)
      CHECK(set->image(i)[400] == (set->labels[static_cast<std::size_t>(i)] == 0 ? 100 : 200));
  }
  CHECK(std::set<std::uint8_t>(split.test.labels.begin(), split.test.labels.end()).size() == 2);
  const Split again = data::load_images(name + "/");  // a slash at the end changes nothing
  CHECK(again.train.images == split.train.images);
  CHECK(again.train.name == "folder:set");
  data::Loader loader(split.train, 4, 0);
  CHECK(loader.next().images.shape()[1] == 784);
}

TEST_CASE("picture folder: train and test, in colour") {
  const files::Folder folder;
  for (const char* part : {"train", "test"}) {
    add_class(folder / (std::string(part) + "/b"), 3, 10, true);
    add_class(folder / (std::string(part) + "/a"), 3, 90, true);
  }
  const std::string name = "folder:" + folder.path.string();
  CHECK(data::image_shape(name) == data::ImageShape{32, 32, 3});
  CHECK(data::count_images(name) == 12);
  const Split split = data::load_images(name);
  CHECK(split.train.count == 5);
  CHECK(split.validation.count == 1);
  CHECK(split.test.labels == Bytes{0, 0, 0, 1, 1, 1});
  CHECK(split.test.image(0)[0] == 255);
  CHECK(split.test.image(0)[1] == 90);
  CHECK(split.remark == "32 x 32 in colour, 12 of 12 pictures resized; classes: a, b");
}

TEST_CASE("picture folder: names that are digits are the labels") {
  const files::Folder folder;
  add_class(folder / "3", 4, 30);
  add_class(folder / "7", 4, 70);
  const Split split = data::load_images("folder:" + folder.path.string());
  for (std::size_t i = 0; i < split.train.labels.size(); ++i)
    CHECK(split.train.image(static_cast<std::int64_t>(i))[0] == split.train.labels[i] * 10);
  CHECK(split.classes.size() == 10);
}

TEST_CASE("picture folder: what is refused, and why") {
  const files::Folder folder;
  CHECK(files::message<UsageError>([] { data::load_images("folder:"); }) ==
        "folder: wants the path of a folder: folder:photos");
  CHECK(files::message<MissingError>([&] { data::load_images("folder:" + (folder / "none")); }) ==
        (folder / "none") +
            ": no such folder; --data folder:PATH wants one with a folder of pictures for each class");
  const std::string name = "folder:" + (folder / "set");
  add_class(folder / "set/a", 2, 1);
  CHECK_THAT(refusal(name), Catch::Matchers::Contains("1 folder in it"));
  std::filesystem::create_directories(folder / "set/b");
  CHECK_THAT(refusal(name), Catch::Matchers::Contains((folder / "set/b") + ": no picture in it"));
  files::write(folder / "set/b/broken.png", {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0});
  CHECK_THAT(refusal(name), Catch::Matchers::Contains("broken.png: cut short"));
  add_class(folder / "few/a", 1, 1);
  add_class(folder / "few/b", 1, 1);
  CHECK_THAT(refusal("folder:" + (folder / "few")), Catch::Matchers::Contains("too few pictures"));
  for (int i = 0; i < 11; ++i) add_class(folder / concat("many/", i), 1, 1);
  CHECK_THAT(refusal("folder:" + (folder / "many")),
             Catch::Matchers::Contains("11 folders in it, so as many classes; at most 10 are taken"));
  for (const char* one : {"train/a", "train/b", "test/a", "test/c"})
    add_class(folder / (std::string("parts/") + one), 2, 1);
  CHECK_THAT(refusal("folder:" + (folder / "parts")),
             Catch::Matchers::Contains("test/c is a class that train/ lacks"));
}
