#include <sys/stat.h>

#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <tinymp/data/idx.h>
#include <array>
#include <chrono>
#include <cmath>

using namespace tinymp;
using files::Bytes;
using files::counting;
using files::gzip;
using files::idx;

namespace {

const std::string mend = "; fetch it again with ./learn data mnist";

std::string image_error(const std::string& path) {
  return files::message<Error>([&] { data::read_idx_images(path); });
}
std::string label_error(const std::string& path) {
  return files::message<Error>([&] { data::read_idx_labels(path); });
}

}  // namespace

TEST_CASE("read_idx: images and labels, plain and gzip") {
  const files::Folder folder;
  const Bytes pixels = counting(5 * 4 * 3), labels = {5, 0, 4, 1, 9};
  // The name says nothing: the packed file is called plain and the other way round.
  const std::string a = folder / "images", b = folder / "images.gz", c = folder / "labels",
                    d = folder / "labels.gz";
  files::write(a, gzip(idx(0x803, {5, 4, 3}, pixels)));
  files::write(b, idx(0x803, {5, 4, 3}, pixels));
  files::write(c, gzip(idx(0x801, {5}, labels)));
  files::write(d, idx(0x801, {5}, labels));
  for (const std::string& path : {a, b}) {
    const data::IdxImages images = data::read_idx_images(path);
    CHECK(images.count == 5);
    CHECK(images.rows == 4);
    CHECK(images.cols == 3);
    CHECK(images.pixels == pixels);
  }
  for (const std::string& path : {c, d}) CHECK(data::read_idx_labels(path) == labels);
  const data::IdxPair pair = data::read_idx_pair(a, d);
  CHECK(pair.images.count == 5);
  CHECK(pair.labels == labels);
}

TEST_CASE("count_idx_images: the header alone, plain and gzip") {
  const files::Folder folder;
  const Bytes whole = idx(0x803, {5, 4, 3}, counting(5 * 4 * 3));
  Bytes packed = gzip(idx(0x803, {60000, 28, 28}, counting(60000)));
  files::write(folder / "plain", Bytes(whole.begin(), whole.begin() + 16));
  packed.resize(packed.size() / 2);
  files::write(folder / "packed", packed);
  CHECK(data::count_idx_images(folder / "plain") == 5);
  CHECK(data::count_idx_images(folder / "packed") == 60000);

  const auto error = [](const std::string& path) {
    return files::message<Error>([&] { data::count_idx_images(path); });
  };
  files::write(folder / "short", Bytes(whole.begin(), whole.begin() + 15));
  files::write(folder / "labels", idx(0x801, {5}, {5, 0, 4, 1, 9}));
  files::write(folder / "empty", {});
  for (const char* file : {"short", "labels", "empty"})
    CHECK(error(folder / file) == image_error(folder / file));
}

TEST_CASE("read_idx: a gzip file of several members is one file, as RFC 1952 has it") {
  const files::Folder folder;
  const Bytes whole = idx(0x803, {40, 28, 28}, counting(40 * 784));
  Bytes packed = gzip(Bytes(whole.begin(), whole.begin() + 10));
  const Bytes rest = gzip(Bytes(whole.begin() + 10, whole.end()));
  packed.insert(packed.end(), rest.begin(), rest.end());
  files::write(folder / "images", packed);
  CHECK(data::read_idx_images(folder / "images").pixels == counting(40 * 784));
}

TEST_CASE("read_idx: a file that is not there") {
  const files::Folder folder;
  const std::string path = folder / "nowhere";
  CHECK(files::message<MissingError>([&] { data::read_idx_images(path); }) == path + ": no such file" + mend);
  CHECK(image_error(folder.path.string()) ==
        folder.path.string() + ": a folder where a file was expected" + mend);
}

TEST_CASE("read_idx: every wrong file is refused with one message") {
  const files::Folder folder;
  const std::string path = folder / "file";
  const auto images = [&](const Bytes& bytes) {
    files::write(path, bytes);
    return image_error(path);
  };
  const auto labels = [&](const Bytes& bytes) {
    files::write(path, bytes);
    return label_error(path);
  };
  const Bytes right = idx(0x803, {2, 28, 28}, counting(2 * 784));

  SECTION("empty") {
    CHECK(images({}) == path + ": the file is empty" + mend);
    CHECK(labels({}) == path + ": the file is empty" + mend);
    CHECK(images(gzip({})) == path + ": the file is empty" + mend);
  }
  SECTION("cut short in the header") {
    for (const std::size_t size : {1u, 3u, 4u, 15u})
      CHECK(images(Bytes(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(size))) ==
            path + ": cut short: " + std::to_string(size) + " bytes, but the header alone takes 16" + mend);
    CHECK(labels({0, 0, 8, 1, 0, 0, 0}) ==
          path + ": cut short: 7 bytes, but the header alone takes 8" + mend);
  }
  SECTION("cut short in the elements, or a count that is too large") {
    const std::string expected =
        path +
        ": cut short, or its count is wrong: the header promises 2 x 28 x 28 bytes, but only "
        "1567 follow (expected 1568)" +
        mend;
    CHECK(images(Bytes(right.begin(), right.end() - 1)) == expected);
    CHECK(images(gzip(Bytes(right.begin(), right.end() - 1))) == expected);
    CHECK(labels(idx(0x801, {4}, {1, 2, 3})) == path +
                                                    ": cut short, or its count is wrong: the header promises "
                                                    "4 bytes, but only 3 follow (expected 4)" +
                                                    mend);
  }
  SECTION("over-long, or a count that is too small") {
    Bytes longer = right;
    longer.push_back(0);
    const std::string expected =
        path +
        ": too long, or its count is wrong: the header promises 2 x 28 x 28 bytes, but more "
        "follow (expected 1568)" +
        mend;
    CHECK(images(longer) == expected);
    CHECK(images(gzip(longer)) == expected);
    CHECK(images(idx(0x803, {0, 28, 28}, {1})) ==
          path +
              ": too long, or its count is wrong: the header promises 0 x 28 x 28 bytes, but more follow "
              "(expected 0)" +
              mend);
  }
  SECTION("a count so large that the product overflows 64 bits") {
    // 2^22 * 2^21 * 2^21 = 2^64, which is 0 modulo 2^64: an unguarded product would call this empty file
    // right.
    CHECK(images(idx(0x803, {1u << 22, 1u << 21, 1u << 21}, {})) ==
          path +
              ": cut short, or its count is wrong: the header promises 4194304 x 2097152 x 2097152 bytes, "
              "but only 0 "
              "follow (expected 18446744073709551615)" +
              mend);
  }
  SECTION("wrong magic number") {
    const std::string wrong = path + ": wrong magic number: ";
    CHECK(images(idx(0x801, {3}, {1, 2, 3})) ==
          wrong + "0x00000801, expected 0x00000803 (this is a file of labels)" + mend);
    CHECK(labels(right) == wrong + "0x00000803, expected 0x00000801 (this is a file of images)" + mend);
    CHECK(images(Bytes{'<', 'h', 't', 'm', 'l', '>'}) ==
          wrong + "0x3c68746d, expected 0x00000803 (this is no IDX file)" + mend);
    CHECK(images(idx(0xd03, {1, 28, 28}, counting(784 * 4))) ==
          wrong +
              "0x00000d03, expected 0x00000803 (its elements are not unsigned bytes: type 0x0000000d, "
              "expected 0x00000008)" +
              mend);
  }
  SECTION("wrong number of dimensions") {
    CHECK(images(idx(0x804, {1, 1, 28, 28}, counting(784))) ==
          path + ": wrong magic number: 0x00000804, expected 0x00000803 (it has 4 dimensions, expected 3)" +
              mend);
    CHECK(labels(idx(0x802, {1, 1}, {7})) ==
          path + ": wrong magic number: 0x00000802, expected 0x00000801 (it has 2 dimensions, expected 1)" +
              mend);
  }
  SECTION("gzip cut short") {
    const Bytes packed = gzip(right);
    for (std::size_t size = 2; size < packed.size(); ++size)
      REQUIRE(images(Bytes(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size))) ==
              path + ": cut short: its gzip ends after " + std::to_string(size) +
                  " bytes, before all is unpacked" + mend);
  }
  SECTION("gzip cut short where the unpacked bytes just fill a 64 KB block") {
    // Level 0 stores the bytes as they are, so the cut can be put next to the border of a block.
    const Bytes packed = gzip(idx(0x803, {100, 28, 28}, counting(100 * 784)), 0);
    for (std::size_t size = 65536; size < 65536 + 64; ++size)
      REQUIRE(images(Bytes(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size))) ==
              path + ": cut short: its gzip ends after " + std::to_string(size) +
                  " bytes, before all is unpacked" + mend);
  }
  SECTION("gzip damaged: no flipped bit goes unseen") {
    const Bytes packed = gzip(right);
    for (std::size_t i = 2; i < packed.size(); ++i) {
      if (i >= 4 && i < 10) continue;  // time, level and system in the header mean nothing
      Bytes damaged = packed;
      damaged[i] ^= 0x20;
      INFO("byte " << i << " of " << packed.size());
      const std::string found = images(damaged);
      REQUIRE_FALSE(found.empty());
      REQUIRE(found.substr(found.size() - mend.size()) == mend);
    }
    Bytes damaged = packed;
    damaged[packed.size() - 5] ^= 1;  // in the CRC-32
    CHECK(images(damaged) == path + ": damaged: its gzip cannot be unpacked (incorrect data check)" + mend);
  }
  SECTION("bytes after the end of the gzip") {
    Bytes packed = gzip(right);
    packed.insert(packed.end(), {'j', 'u', 'n', 'k'});
    CHECK(images(packed) == path + ": damaged: bytes follow the end of its gzip" + mend);
  }
  SECTION("a gzip bomb: no more than the header promises is unpacked") {
    Bytes bomb;
    const Bytes zeros = gzip(Bytes(32u << 20)), header = gzip(Bytes(right.begin(), right.begin() + 16));
    bomb = header;
    for (int i = 0; i < 128; ++i) bomb.insert(bomb.end(), zeros.begin(), zeros.end());  // 4 GB
    const auto began = std::chrono::steady_clock::now();
    CHECK(images(bomb).find(": too long, or its count is wrong: the header promises 2 x 28 x 28 bytes, but "
                            "more follow") != std::string::npos);
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
  }
  SECTION("no regular file") {
    std::filesystem::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    CHECK(image_error(path) == path + ": no regular file" + mend);
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/dev/zero", path);
    CHECK(image_error(path) == path + ": no regular file" + mend);
    CHECK(files::message<Error>([&] { data::count_idx_images(path); }) == path + ": no regular file" + mend);
  }
  SECTION("label out of range") {
    CHECK(labels(idx(0x801, {4}, {9, 0, 10, 255})) == path + ": label 2 is 10, expected 0 to 9" + mend);
  }
  SECTION("the caller's way to mend it") {
    files::write(path, {});
    CHECK(files::message<Error>([&] { data::read_idx_images(path, "buy a new disk"); }) ==
          path + ": the file is empty; buy a new disk");
  }
}

TEST_CASE("read_idx_pair: as many labels as images") {
  const files::Folder folder;
  files::write(folder / "images", idx(0x803, {2, 28, 28}, counting(2 * 784)));
  files::write(folder / "labels", idx(0x801, {3}, {1, 2, 3}));
  CHECK(files::message<Error>([&] { data::read_idx_pair(folder / "images", folder / "labels"); }) ==
        (folder / "labels") + ": 3 labels, but " + (folder / "images") + " holds 2 images" + mend);
}

// Published facts: counts and first labels (LeCun, Cortes, Burges), mean 0.1307 and deviation 0.3081 of the
// training pixels (torchvision's examples), images of each class. The CRC-32s are of files whose SHA-256 is
// the known one.
TEST_CASE("read_idx: full MNIST is what was published") {
  const std::string folder = files::mnist_folder();
  if (folder.empty()) SKIP_TEST("TINYMP_DATA does not hold mnist/");
  const auto crc = [](const Bytes& bytes) {
    return static_cast<std::uint32_t>(crc32(0, bytes.data(), static_cast<uInt>(bytes.size())));
  };
  const auto per_class = [](const Bytes& labels) {
    std::array<int, 10> counts{};
    for (const std::uint8_t label : labels) ++counts[label];
    return counts;
  };

  const data::IdxPair train =
      data::read_idx_pair(folder + "/train-images-idx3-ubyte.gz", folder + "/train-labels-idx1-ubyte.gz");
  CHECK(train.images.count == 60000);
  CHECK(train.images.rows == 28);
  CHECK(train.images.cols == 28);
  CHECK(Bytes(train.labels.begin(), train.labels.begin() + 5) == Bytes{5, 0, 4, 1, 9});
  CHECK(per_class(train.labels) == std::array{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949});
  CHECK(crc(train.images.pixels) == 0xf3639b56);
  CHECK(crc(train.labels) == 0xba07e8ef);
  double sum = 0, squares = 0;
  for (const std::uint8_t pixel : train.images.pixels) {
    const double value = pixel / 255.0;
    sum += value;
    squares += value * value;
  }
  const double n = 60000.0 * 784.0, mean = sum / n;
  CHECK(mean == Approx(0.1307).margin(5e-5));
  CHECK(std::sqrt(squares / n - mean * mean) == Approx(0.3081).margin(5e-5));

  const data::IdxPair test =
      data::read_idx_pair(folder + "/t10k-images-idx3-ubyte.gz", folder + "/t10k-labels-idx1-ubyte.gz");
  CHECK(test.images.count == 10000);
  CHECK(Bytes(test.labels.begin(), test.labels.begin() + 5) == Bytes{7, 2, 1, 0, 4});
  CHECK(per_class(test.labels) == std::array{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009});
  CHECK(crc(test.images.pixels) == 0xe4ca5f57);
  CHECK(crc(test.labels) == 0xee8604d9);
}
