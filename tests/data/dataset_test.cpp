#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <tinymp/data/dataset.h>
#include <tinymp/data/idx.h>
#include <array>
#include <map>
#include <string>

using namespace tinymp;
using data::Dataset;
using data::Split;
using files::Bytes;

namespace {

const std::filesystem::path source_datasets = files::source_datasets();

std::array<int, 10> per_class(const Dataset& set) {
  std::array<int, 10> counts{};
  for (const std::uint8_t label : set.labels) ++counts[label];
  return counts;
}

/// An image with its label, for comparing sets of them.
std::vector<std::string> images_of(const Dataset& set) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < set.count; ++i) {
    const auto image = set.image(i);
    all.emplace_back(image.begin(), image.end());
    all.back().push_back(static_cast<char>(set.labels[static_cast<std::size_t>(i)]));
  }
  return all;
}

/// train and validation together are the file, each image in one of them as often as the file has it, in its
/// order.
void check_partition(const Split& split, const data::IdxPair& file) {
  Dataset whole{"file", file.images.count, file.images.pixels, file.labels};
  const std::vector<std::string> train = images_of(split.train), validation = images_of(split.validation);
  std::size_t t = 0, v = 0;
  for (const std::string& image : images_of(whole)) {
    if (t < train.size() && train[t] == image) {
      ++t;
    } else {
      REQUIRE(v < validation.size());
      REQUIRE(validation[v] == image);
      ++v;
    }
  }
  CHECK(t == train.size());
  CHECK(v == validation.size());
}

bool same(const Dataset& a, const Dataset& b) { return a.images == b.images && a.labels == b.labels; }

}  // namespace

TEST_CASE("load_images: a name that is none") {
  CHECK(files::message<UsageError>([] { data::load_images("cifar"); }) ==
        "no data set is called \"cifar\"; choose mnist, fashion, cut, cifar10 or folder:PATH");
}

TEST_CASE("load_images: a missing set names every place and the command that fetches it") {
  const files::Folder one, two;
  const files::Environment first("TINYMP_DATA", one.path.c_str()), last("TINYMP_DATASETS", two.path.c_str());
  if (std::filesystem::exists(source_datasets / "mnist"))
    SKIP_TEST("datasets/mnist is there, so nothing is missing");
  files::write_set(two, "mnist", 20, 5);
  std::filesystem::remove(two / "mnist/t10k-labels-idx1-ubyte");
  CHECK(files::message<MissingError>([] { data::load_images("mnist"); }) ==
        "the data set \"mnist\" is not here; fetch it with ./learn data mnist. Looked in:\n  " +
            (one / "mnist") + "\n  " + (source_datasets / "mnist").string() + "\n  " + (two / "mnist") +
            " (lacks t10k-labels-idx1-ubyte)");
}

TEST_CASE("load_images: the first complete folder is read, TINYMP_DATA before TINYMP_DATASETS") {
  const files::Folder one, two;
  const files::Environment first("TINYMP_DATA", one.path.c_str()), last("TINYMP_DATASETS", two.path.c_str());
  if (std::filesystem::exists(source_datasets / "mnist"))
    SKIP_TEST("datasets/mnist is there and comes in between");
  files::write_set(two, "mnist", 20, 5);
  CHECK(data::describe(data::load_images("mnist")) == "mnist (18 train, 2 validation, 5 test)");
  files::write_set(one, "mnist", 30, 7);
  CHECK(data::describe(data::load_images("mnist")) == "mnist (27 train, 3 validation, 7 test)");
  std::filesystem::remove(one / "mnist/train-images-idx3-ubyte.gz");
  CHECK(data::load_images("mnist").test.count == 5);
}

TEST_CASE("load_images: a damaged file is an error even where another folder is right") {
  const files::Folder one, two;
  const files::Environment first("TINYMP_DATA", one.path.c_str()), last("TINYMP_DATASETS", two.path.c_str());
  files::write_set(two, "fashion", 20, 5);
  files::write_set(one, "fashion", 20, 5);
  const std::string path = one / "fashion/t10k-images-idx3-ubyte.gz";
  const std::string mend = "; fetch it again with ./learn data fashion";
  const auto error = [] { return files::message<Error>([] { data::load_images("fashion"); }); };
  files::write(path, files::idx(0x803, {5, 20, 20}, files::counting(5 * 400)));
  CHECK(error() == path + ": images of 20 x 20, expected 28 x 28" + mend);
  files::write(path, files::idx(0x803, {4, 28, 28}, files::counting(4 * 784)));
  CHECK(error() ==
        (one / "fashion/t10k-labels-idx1-ubyte") + ": 5 labels, but " + path + " holds 4 images" + mend);
  files::write(path, files::idx(0x803, {0, 28, 28}, {}));
  files::write(one / "fashion/t10k-labels-idx1-ubyte", files::idx(0x801, {0}, {}));
  CHECK(error() == path + ": no images in it" + mend);
}

TEST_CASE("load_images: train and validation are disjoint, complete and always the same") {
  const files::Folder folder;
  const files::Environment first("TINYMP_DATA", folder.path.c_str());
  files::write_set(folder, "mnist", 1000, 50);  // 251 and 784 have no common factor: neighbours differ
  const Split split = data::load_images("mnist");
  CHECK(split.train.count == 900);
  CHECK(split.validation.count == 100);
  check_partition(split, data::read_idx_pair(folder / "mnist/train-images-idx3-ubyte.gz",
                                             folder / "mnist/train-labels-idx1-ubyte"));
  const Split again = data::load_images("mnist");
  CHECK(same(split.train, again.train));
  CHECK(same(split.validation, again.validation));

  // Not the end of the file: each half of it gives its share, within 5 standard deviations of 100 coins.
  int early = 0;
  const data::IdxPair file = data::read_idx_pair(folder / "mnist/train-images-idx3-ubyte.gz",
                                                 folder / "mnist/train-labels-idx1-ubyte");
  std::map<std::string, int> position;
  const std::vector<std::string> whole = images_of({"", 1000, file.images.pixels, file.labels});
  for (int i = 0; i < 1000; ++i) position.emplace(whole[static_cast<std::size_t>(i)], i);
  REQUIRE(position.size() == 1000);
  for (const std::string& image : images_of(split.validation)) early += position.at(image) < 500;
  CHECK(early >= 25);
  CHECK(early <= 75);
}

TEST_CASE("load_images: full MNIST") {
  const std::string folder = files::mnist_folder();
  if (folder.empty()) SKIP_TEST("TINYMP_DATA does not hold mnist/");
  const Split split = data::load_images("mnist");
  CHECK(data::describe(split) == "mnist (55000 train, 5000 validation, 10000 test)");
  check_partition(split, data::read_idx_pair(folder + "/train-images-idx3-ubyte.gz",
                                             folder + "/train-labels-idx1-ubyte.gz"));
  CHECK(Bytes(split.test.labels.begin(), split.test.labels.begin() + 5) == Bytes{7, 2, 1, 0, 4});
}

TEST_CASE("load_images: Debian's Fashion-MNIST") {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz"))
    SKIP_TEST("the package dataset-fashion-mnist is not installed");
  const files::Environment none("TINYMP_DATA", nullptr);
  const Split split = data::load_images("fashion");
  CHECK(data::describe(split) == "fashion (55000 train, 5000 validation, 10000 test)");
  CHECK(per_class(split.test) == std::array{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000});
}

TEST_CASE("load_images: a link that leads nowhere is told, and no other copy taken") {
  namespace fs = std::filesystem;
  const files::Folder folder, other;
  const files::Environment here("TINYMP_DATA", folder.path.c_str()),
      there("TINYMP_DATASETS", other.path.c_str());
  files::write_set(other, "mnist", 20, 10);
  const auto error = [] { return files::message<MissingError>([] { data::load_images("mnist"); }); };
  const auto nowhere = [&](const std::string& name) {
    return "the data set \"mnist\": " + (folder / name) +
           " is a link that leads nowhere; mend it, or remove it";
  };
  fs::create_symlink(folder / "gone", folder / "mnist");
  CHECK(error() == nowhere("mnist"));
  fs::remove(folder / "mnist");
  fs::create_symlink("mnist", folder / "mnist");  // to itself
  CHECK(error() == nowhere("mnist"));
  fs::remove(folder / "mnist");
  files::write_set(folder, "mnist", 20, 10);
  const std::string file = "mnist/t10k-images-idx3-ubyte.gz";
  fs::remove(folder / file);
  fs::create_symlink("gone", folder / file);
  CHECK(error() == nowhere(file));
  fs::remove(folder / file);
  fs::create_symlink(other / file, folder / file);
  CHECK(error().empty());
}

TEST_CASE("load_images: the cut that comes with tinymp") {
  const files::Environment none("TINYMP_DATA", nullptr);
  const Split split = data::load_images("cut");
  CHECK(data::describe(split) == "fashion-mnist-cut (9000 train, 1000 validation, 1000 test)");
  CHECK(data::count_images("cut") == 11000);
  std::array<int, 10> both = per_class(split.train);
  for (std::size_t c = 0; c < 10; ++c) {
    both[c] += per_class(split.validation)[c];
    CHECK(both[c] == 1000);
    CHECK(per_class(split.test)[c] == 100);
  }

  const std::filesystem::path folder = source_datasets / "fashion-mnist-cut";
  std::uintmax_t size = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) size += entry.file_size();
  CHECK(size <= 5'000'000);
  std::ifstream licence(folder / "LICENSE");
  const std::string text{std::istreambuf_iterator<char>(licence), {}};
  CHECK(text.find("Copyright (c) 2017 Zalando SE") != std::string::npos);
  CHECK(text.find("Permission is hereby granted, free of charge") != std::string::npos);
  CHECK(text.find("WITHOUT WARRANTY OF ANY KIND") != std::string::npos);
  CHECK(std::filesystem::exists(folder / "README.md"));
  CHECK(std::filesystem::exists(folder / "make_cut.py"));
}

TEST_CASE("the cut is the first 1000 and 100 images of each class of Fashion-MNIST") {
  const std::string debian = "/usr/share/datasets/fashion-mnist/";
  if (!std::filesystem::exists(debian + "train-images-idx3-ubyte.gz"))
    SKIP_TEST("the package dataset-fashion-mnist is not installed");
  for (const auto& [part, quota] : {std::pair<std::string, int>{"train", 1000}, {"t10k", 100}}) {
    const std::string images = part + "-images-idx3-ubyte.gz", labels = part + "-labels-idx1-ubyte.gz";
    const std::string cut_folder = (source_datasets / "fashion-mnist-cut").string() + "/";
    const data::IdxPair full = data::read_idx_pair(debian + images, debian + labels);
    const data::IdxPair cut = data::read_idx_pair(cut_folder + images, cut_folder + labels);
    Bytes pixels, chosen;
    std::array<int, 10> taken{};
    for (std::size_t i = 0; i < full.labels.size(); ++i) {
      if (taken[full.labels[i]]++ >= quota) continue;
      const auto first = full.images.pixels.begin() + static_cast<std::ptrdiff_t>(i * 784);
      pixels.insert(pixels.end(), first, first + 784);
      chosen.push_back(full.labels[i]);
    }
    CHECK(cut.labels == chosen);
    CHECK(cut.images.pixels == pixels);
  }
}
