#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <tinymp/data/cifar.h>
#include <tinymp/data/loader.h>
#include <array>
#include <cmath>
#include <cstdlib>

using namespace tinymp;
using data::CifarImages;
using files::Bytes;

namespace {

const std::string mend = "; fetch it again with ./learn data cifar10";

/// Records of one image each: a label, then planes whose bytes tell channel, row and column apart.
Bytes records(std::size_t count) {
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i % 10));
    for (std::size_t channel = 0; channel < 3; ++channel)
      for (std::size_t row = 0; row < 32; ++row)
        for (std::size_t col = 0; col < 32; ++col)
          bytes.push_back(static_cast<std::uint8_t>(i * 7 + channel * 85 + row * 32 + col * 3));
  }
  return bytes;
}

std::string error(const std::string& path, std::int64_t count) {
  return files::message<Error>([&] { data::read_cifar(path, count); });
}

/// A folder of all six files, each with an image of its own in every 1000th record; in gzip, which such
/// files fill well.
void write_set(const files::Folder& folder) {
  const std::array names = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                            "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
  for (std::size_t f = 0; f < names.size(); ++f) {
    Bytes bytes(30'730'000);
    for (std::size_t i = 0; i < 10'000; ++i) {
      bytes[i * 3073] = static_cast<std::uint8_t>(f);
      bytes[i * 3073 + 1] = static_cast<std::uint8_t>(i / 256);
      bytes[i * 3073 + 2] = static_cast<std::uint8_t>(i % 256);
    }
    files::write(folder / (std::string("cifar10/") + names[f] + ".gz"), files::gzip(bytes, 1));
  }
}

}  // namespace

TEST_CASE("read_cifar: planes become neighbours, plain and gzip") {
  const files::Folder folder;
  files::write(folder / "plain", records(3));
  files::write(folder / "packed", files::gzip(records(3)));
  for (const char* name : {"plain", "packed"}) {
    const CifarImages images = data::read_cifar(folder / name, 3);
    CHECK(images.labels == Bytes{0, 1, 2});
    REQUIRE(images.pixels.size() == 3 * 3072);
    bool right = true;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t row = 0; row < 32; ++row)
        for (std::size_t col = 0; col < 32; ++col)
          for (std::size_t channel = 0; channel < 3; ++channel)
            right = right && images.pixels[i * 3072 + (row * 32 + col) * 3 + channel] ==
                                 static_cast<std::uint8_t>(i * 7 + channel * 85 + row * 32 + col * 3);
    CHECK(right);
  }
}

TEST_CASE("read_cifar: every wrong file is refused with one message") {
  const files::Folder folder;
  const std::string path = folder / "file";
  CHECK(files::message<MissingError>([&] { data::read_cifar(path); }) == path + ": no such file" + mend);
  Bytes bytes = records(3);
  files::write(path, bytes);
  CHECK(error(path, 4) ==
        path + ": cut short: 9219 bytes, expected 12292 (4 records of 3073)" + mend);  // at a whole record
  CHECK(error(path, 2) == path + ": too long: more than the expected 6146 bytes (2 records of 3073)" + mend);
  files::write(path, Bytes(bytes.begin(), bytes.end() - 1));
  CHECK(error(path, 3) == path + ": cut short: 9218 bytes, expected 9219 (3 records of 3073)" + mend);
  files::write(path, {});
  CHECK(error(path, 10'000) ==
        path + ": cut short: 0 bytes, expected 30730000 (10000 records of 3073)" + mend);
  bytes[2 * 3073] = 10;
  files::write(path, bytes);
  CHECK(error(path, 3) ==
        path + ": the label of record 2 (counted from 0, at byte 6146) is 10, expected 0 to 9" + mend);
  Bytes packed = files::gzip(records(3));
  packed[packed.size() - 5] ^= 1;
  files::write(path, packed);
  CHECK(error(path, 3) == path + ": damaged: its gzip cannot be unpacked (incorrect data check)" + mend);
}

TEST_CASE("load_images: cifar10 is five files, split as all sets are, and a sixth") {
  const files::Folder folder;
  const files::Environment environment("TINYMP_DATA", folder.path.c_str());
  write_set(folder);
  CHECK(data::image_shape("cifar10") == data::ImageShape{32, 32, 3});
  CHECK(data::count_images("cifar10") == 60'000);
  const data::Split split = data::load_images("cifar10");
  CHECK(data::describe(split) == "cifar10 (45000 train, 5000 validation, 10000 test)");
  std::vector<bool> seen(50'000);
  for (const data::Dataset* part : {&split.train, &split.validation}) {
    std::int64_t before = -1;
    bool rising = true, fresh = true;
    CHECK(part->shape == data::cifar_shape);
    for (std::int64_t i = 0; i < part->count; ++i) {
      const auto image = part->image(i);  // the first two of a plane are three bytes apart
      const std::int64_t number =
          part->labels[static_cast<std::size_t>(i)] * 10'000 + image[0] * 256 + image[3];
      rising = rising && number > before;
      fresh = fresh && !seen[static_cast<std::size_t>(number)];
      seen[static_cast<std::size_t>(number)] = true;
      before = number;
    }
    CHECK(rising);
    CHECK(fresh);
  }
  CHECK(split.test.labels == Bytes(10'000, 5));

  std::filesystem::remove(folder / "cifar10/data_batch_4.bin.gz");
  if (!std::filesystem::exists(files::source_datasets() / "cifar10"))
    CHECK(files::message<MissingError>([] { data::load_images("cifar10"); })
              .find("fetch it with ./learn data cifar10. Looked in:\n  " + (folder / "cifar10") +
                    " (lacks data_batch_4.bin)") != std::string::npos);
}

// Published facts: 6,000 images of each class, 5,000 of them for training, 1,000 for testing (Krizhevsky);
// mean and deviation of the training pixels as in the examples of many libraries.
TEST_CASE("load_images: full CIFAR-10 is what was published", "[exhaustive]") {
  const files::Folder folder;
  const char* data = std::getenv("TINYMP_DATA");
  const std::string packed = std::string(data == nullptr ? "" : data) + "/cifar10/";
  if (!std::filesystem::exists(packed + "test_batch.bin") &&
      !std::filesystem::exists(packed + "test_batch.bin.xz"))
    SKIP_TEST("TINYMP_DATA does not hold cifar10/");
  std::filesystem::create_directories(folder / "cifar10");
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                           "data_batch_5.bin", "test_batch.bin"}) {
    if (std::filesystem::exists(packed + name))
      std::filesystem::create_symlink(packed + name, folder / (std::string("cifar10/") + name));
    else
      REQUIRE(std::system(
                  ("xz -dc '" + packed + name + ".xz' >'" + (folder / "cifar10/") + name + "'").c_str()) ==
              0);
  }
  const files::Environment environment("TINYMP_DATA", folder.path.c_str());
  const data::Split split = data::load_images("cifar10");
  CHECK(data::describe(split) == "cifar10 (45000 train, 5000 validation, 10000 test)");
  CHECK(Bytes(split.test.labels.begin(), split.test.labels.begin() + 5) == Bytes{3, 8, 8, 0, 6});

  std::array<int, 10> trained{}, tested{};
  std::array<double, 3> sum{}, squares{};
  for (const data::Dataset* part : {&split.train, &split.validation}) {
    for (const std::uint8_t label : part->labels) ++trained[label];
    for (std::size_t i = 0; i < part->images.size(); ++i) {
      const double value = part->images[i] / 255.0;
      sum[i % 3] += value;
      squares[i % 3] += value * value;
    }
  }
  for (const std::uint8_t label : split.test.labels) ++tested[label];
  for (std::size_t c = 0; c < 10; ++c) {
    CHECK(trained[c] == 5000);
    CHECK(tested[c] == 1000);
  }
  for (std::size_t c = 0; c < 3; ++c) {
    const double n = 50'000.0 * 1024, mean = sum[c] / n;
    CHECK(mean == Approx(data::cifar10_statistics.mean[c]).margin(5e-5));
    CHECK(std::sqrt(squares[c] / n - mean * mean) ==
          Approx(data::cifar10_statistics.deviation[c]).margin(5e-5));
  }

  // What a model sees: mean 0 and deviation 1, channel by channel.
  const Tensor pixels = data::InOrder(split.test, 10'000, {.normalise = data::cifar10_statistics})[0].images;
  CHECK(pixels.shape() == Shape{10'000, 3072});
  sum = squares = {};
  const std::vector<float> values = pixels.to_floats();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(values[i]);
    sum[i % 3] += value;
    squares[i % 3] += value * value;
  }
  for (std::size_t c = 0; c < 3; ++c) {
    const double n = 10'000.0 * 1024, mean = sum[c] / n;
    CHECK(mean == Approx(0).margin(0.03));
    CHECK(std::sqrt(squares[c] / n - mean * mean) == Approx(1).margin(0.02));
  }
}
