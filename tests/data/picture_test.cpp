#include <tests/catch.h>
#include <tests/data/picture_files.h>
#include <tinymp/base/error.h>
#include <tinymp/data/picture.h>
#include <algorithm>

using namespace tinymp;
using data::decode_picture;
using data::ImageShape;
using data::Picture;
using files::Bytes;
using picture_files::Jpeg;
using picture_files::Png;

namespace {

std::string refusal(const Bytes& file) {
  return files::message<Error>([&] { decode_picture(file, "a"); });
}

void check(const Bytes& file, const ImageShape& shape, const Bytes& pixels) {
  const Picture picture = decode_picture(file, "a");
  CHECK(picture.shape == shape);
  CHECK(picture.pixels == pixels);
}

/// One small file of each format.
std::vector<Bytes> samples() {
  return {picture_files::png({.cols = 3, .rows = 2, .kind = 2, .lines = files::counting(18)}),
          picture_files::jpeg({.rows = 8, .cols = 16, .levels = {40, 200}}),
          picture_files::bmp(2, 3, files::counting(18)),
          picture_files::pnm("P5 3 2 255\n", files::counting(6)),
          picture_files::pnm("P6 3 2 255\n", files::counting(18))};
}

}  // namespace

TEST_CASE("picture: PNG of each kind") {
  check(picture_files::png({.cols = 3, .rows = 2, .lines = {0, 1, 2, 253, 254, 255}}), {2, 3, 1},
        {0, 1, 2, 253, 254, 255});
  check(picture_files::png({.cols = 2, .rows = 1, .kind = 2, .lines = {1, 2, 3, 200, 100, 0}}), {1, 2, 3},
        {1, 2, 3, 200, 100, 0});
  SECTION("one bit a pixel") {
    check(picture_files::png({.cols = 9, .rows = 1, .bits = 1, .lines = {0b10100000, 0b10000000}}), {1, 9, 1},
          {255, 0, 255, 0, 0, 0, 0, 0, 255});
  }
  SECTION("16 bits: the high byte") {
    check(picture_files::png({.cols = 2, .rows = 1, .bits = 16, .lines = {0x12, 0xff, 0xfe, 0x01}}),
          {1, 2, 1}, {0x12, 0xfe});
  }
  SECTION("a palette") {
    check(picture_files::png(
              {.cols = 3, .rows = 1, .kind = 3, .lines = {1, 0, 1}, .palette = {9, 8, 7, 1, 2, 3}}),
          {1, 3, 3}, {1, 2, 3, 9, 8, 7, 1, 2, 3});
  }
  SECTION("alpha is laid on white: (level a + 255 (255 - a)) / 255, rounded") {
    check(picture_files::png({.cols = 3, .rows = 1, .kind = 4, .lines = {0, 255, 0, 0, 100, 51}}), {1, 3, 1},
          {0, 255, 224});
    check(picture_files::png({.cols = 2, .rows = 1, .kind = 6, .lines = {10, 20, 30, 255, 10, 20, 30, 0}}),
          {1, 2, 3}, {10, 20, 30, 255, 255, 255});
    check(picture_files::png({.cols = 2,
                              .rows = 1,
                              .kind = 3,
                              .lines = {0, 1},
                              .palette = {9, 8, 7, 1, 2, 3},
                              .transparent = {0}}),
          {1, 2, 3}, {255, 255, 255, 1, 2, 3});
  }
}

TEST_CASE("picture: BMP, PGM and PPM") {
  const Bytes pixels = files::counting(18);
  check(picture_files::bmp(2, 3, pixels), {2, 3, 3}, pixels);
  check(picture_files::pnm("P6\n3 2\n255\n", pixels), {2, 3, 3}, pixels);
  check(picture_files::pnm("P5 # written by hand\n3 # columns\n 1 255 ", {7, 8, 9}), {1, 3, 1}, {7, 8, 9});
  check(picture_files::pnm("P5 4 1 15 ", {0, 1, 8, 15}), {1, 4, 1}, {0, 17, 136, 255});
}

TEST_CASE("picture: JPEG, and its EXIF orientation") {
  const Picture stored =
      decode_picture(picture_files::jpeg({.rows = 8, .cols = 16, .levels = {40, 200}}), "a");
  CHECK(stored.shape == ImageShape{8, 16, 1});
  CHECK(stored.at(0, 0) == 40);
  CHECK(stored.at(7, 7) == 40);
  CHECK(stored.at(0, 8) == 200);
  CHECK(stored.at(7, 15) == 200);
  // EXIF 2.3: where the first row and the first column of the stored picture lie.
  // 16 x 16: 10 left above, 60 right above, 110 left below, 160 right below.
  const std::array<std::array<int, 4>, 8> shown = {{{10, 60, 110, 160},    // 1: top, left
                                                    {60, 10, 160, 110},    // 2: top, right
                                                    {160, 110, 60, 10},    // 3: bottom, right
                                                    {110, 160, 10, 60},    // 4: bottom, left
                                                    {10, 110, 60, 160},    // 5: left, top
                                                    {110, 10, 160, 60},    // 6: right, top
                                                    {160, 60, 110, 10},    // 7: right, bottom
                                                    {60, 160, 10, 110}}};  // 8: left, bottom
  for (int orientation = 1; orientation <= 8; ++orientation) {
    CAPTURE(orientation);
    const Picture turned = decode_picture(
        picture_files::jpeg(
            {.rows = 16, .cols = 16, .levels = {10, 60, 110, 160}, .orientation = orientation}),
        "a");
    const std::array<int, 4> corners = {turned.at(0, 0), turned.at(0, 15), turned.at(15, 0),
                                        turned.at(15, 15)};
    CHECK(corners == shown[static_cast<std::size_t>(orientation - 1)]);
  }
  CHECK(
      decode_picture(picture_files::jpeg({.rows = 8, .cols = 16, .levels = {40, 200}, .orientation = 6}), "a")
          .shape == ImageShape{16, 8, 1});
}

TEST_CASE("picture: what is not read, and why") {
  using Catch::Matchers::Contains;
  const auto text = [](const std::string& bytes) { return refusal(Bytes(bytes.begin(), bytes.end())); };
  CHECK(text("") == "a: an empty file; save it again as PNG, JPEG, BMP or PGM");
  CHECK(text("hello") == "a: not a picture that is read: PNG, JPEG, BMP, PGM and PPM are");
  CHECK(text("GIF89a") == "a: a GIF, which is not read; save it again as PNG, JPEG, BMP or PGM");
  CHECK_THAT(text(std::string("RIFF\0\0\0\0WEBPVP8 ", 16)), Contains("a WebP"));
  CHECK_THAT(text(std::string("\0\0\0\x18"
                              "ftypheic",
                              12)),
             Contains("a HEIC or AVIF"));
  CHECK_THAT(text("P2 2 2 255 1 2 3 4"), Contains("a PGM or PPM as text"));
  CHECK_THAT(text("P5 1 1 65535 ab"), Contains("its levels go up to 65535"));
  CHECK_THAT(refusal(picture_files::jpeg({.components = 4})), Contains("in CMYK, for printing"));
  CHECK_THAT(refusal(picture_files::png({.cols = 1, .rows = 1, .lines = {0}, .is_animated = true})),
             Contains("an animation"));
  CHECK(files::message<MissingError>([] { data::read_picture("/no/such.png"); }) ==
        "/no/such.png: no such file; give a PNG, JPEG, BMP or PGM");
}

TEST_CASE("picture: a JPEG whose pixels want a Huffman table that is not there") {
  using Catch::Matchers::Contains;
  const Bytes whole = picture_files::jpeg({.rows = 8, .cols = 16, .levels = {40, 200}});
  const auto place_of = [&](const Bytes& bytes) {
    return static_cast<std::size_t>(std::search(whole.begin(), whole.end(), bytes.begin(), bytes.end()) -
                                    whole.begin());
  };
  const std::size_t scan =
      place_of({0xff, 0xda, 0, 8, 1, 1, 0});  // ... of one component: DC table 0, AC table 0
  for (const int tables : {0x01, 0x10, 0x11, 0xff}) {
    Bytes file = whole;
    file[scan + 6] = static_cast<std::uint8_t>(tables);
    CHECK_THAT(refusal(file), Contains("its pixels want a Huffman table that it lacks"));
  }
  Bytes progressive = whole;  // its first scan wants no AC table
  progressive[place_of({0xff, 0xc0}) + 1] = 0xc2;
  progressive[scan + 6] = 0x0f;
  progressive[scan + 8] = 0;
  CHECK_THAT(refusal(progressive), !Contains("Huffman"));
  Bytes longer = whole;
  longer[scan + 4] = 2;
  CHECK_THAT(refusal(longer), Contains("the header of a scan is wrong"));
}

TEST_CASE("picture: a header that promises more than there is, or than is read") {
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal(picture_files::png({.cols = 100'000, .rows = 100'000})), Contains("cannot hold"));
  CHECK_THAT(refusal(picture_files::png({.cols = 0xffffffff, .rows = 0xffffffff})), Contains("damaged"));
  CHECK_THAT(refusal(picture_files::jpeg({.rows = 65528, .cols = 65528})), Contains("cannot hold"));
  CHECK_THAT(refusal(picture_files::pnm("P6 99999 99999 255\n", {1})), Contains("cut short"));
  Bytes bmp = picture_files::bmp(2, 3, files::counting(18));
  bmp[20] = 0xff;
  CHECK_THAT(refusal(bmp), Contains("cut short"));
  const Bytes empty = picture_files::pnm("P5 0 3 255\n", {});
  CHECK_THAT(refusal(empty), Contains("holds nothing"));
  // Zeros pack 1032 : 1, so that a small file may well hold what is too much.
  CHECK_THAT(refusal(picture_files::png({.cols = 8000, .rows = 4000, .bits = 1, .lines = Bytes(4'000'000)})),
             Contains("4000 x 8000 pixels; at most 25000000 are read"));
}

TEST_CASE("picture: a file that is cut short anywhere is refused") {
  for (const Bytes& file : samples()) {
    REQUIRE(refusal(file).empty());
    for (std::size_t length = 0; length < file.size(); ++length) {
      CAPTURE(length, file.size());
      CHECK(!refusal(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length))).empty());
    }
  }
}

TEST_CASE("picture: any changed byte of a PNG is found, and changed bytes of other files crash nothing") {
  const std::vector<Bytes> all = samples();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t at = 0; at < all[i].size(); ++at) {
      Bytes file = all[i];
      for (const int change : {0x01, 0x80, 0xff}) {
        file[at] = static_cast<std::uint8_t>(all[i][at] ^ change);
        const std::string message = refusal(file);
        CAPTURE(at, change);
        if (i == 0) CHECK(!message.empty());
      }
    }
  }
}

TEST_CASE("picture: bytes after the end of a picture are left alone, as cameras write some") {
  for (Bytes file : samples()) {
    const Picture before = decode_picture(file, "a");
    file.insert(file.end(), 100, 0x55);
    CHECK(decode_picture(file, "a").pixels == before.pixels);
  }
}

TEST_CASE("picture: grey, colour, the middle, and whether there is colour") {
  const Picture colour{{1, 2, 3}, {255, 0, 0, 10, 10, 10}};
  CHECK(data::to_grey(colour).pixels == Bytes{77, 10});
  CHECK(data::to_grey(data::to_colour({{1, 2, 1}, {3, 250}})).pixels == Bytes{3, 250});
  const Picture wide{{2, 5, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  CHECK(data::centre_square(wide).pixels == Bytes{1, 2, 6, 7});
  CHECK(data::centre_square({{3, 1, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8}}).pixels == Bytes{3, 4, 5});
  CHECK(data::is_coloured(colour));
  CHECK(!data::is_coloured({{1, 1, 3}, {230, 220, 200}}));  // paper in the evening
  CHECK(!data::is_coloured(wide));
}
