#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/digit.h>
#include <tinymp/data/idx.h>
#include <tinymp/data/picture_input.h>
#include <tinymp/data/resize.h>
#include <algorithm>
#include <cmath>

using namespace tinymp;
using data::Digit;
using data::Picture;
using files::Bytes;

namespace {

std::string drawn(int digit) {
  return (files::source_datasets() / "digits" / concat(digit, ".png")).string();
}

/// The mean row and column of the levels, from pixel 0.
std::array<double, 2> centre(std::span<const std::uint8_t> levels, std::int64_t cols = 28) {
  double mass = 0, down = 0, across = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    mass += levels[i];
    down += levels[i] * static_cast<double>(static_cast<std::int64_t>(i) / cols);
    across += levels[i] * static_cast<double>(static_cast<std::int64_t>(i) % cols);
  }
  return {down / mass, across / mass};
}

/// The sum of differences, over the sum of b's levels.
double difference(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  double off = 0, mass = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    off += std::abs(a[i] - b[i]);
    mass += b[i];
  }
  return off / mass;
}

/// Ink of levels 0 .. 255 on paper, at a place of a canvas.
Picture on_canvas(std::span<const std::uint8_t> image, std::int64_t side, std::int64_t top, std::int64_t left,
                  bool is_dark) {
  Picture canvas{{side, side, 1}, Bytes(static_cast<std::size_t>(side * side), is_dark ? 255 : 0)};
  for (std::int64_t i = 0; i < 784; ++i) {
    const std::uint8_t ink = image[static_cast<std::size_t>(i)];
    canvas.pixels[static_cast<std::size_t>((top + i / 28) * side + left + i % 28)] =
        static_cast<std::uint8_t>(is_dark ? 255 - ink : ink);
  }
  return canvas;
}

/// change(level, row, column), all as doubles, in place of each level.
template <class Change>
Picture changed(Picture picture, Change change) {
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const double level = change(picture.pixels[i], static_cast<double>(at / picture.shape.cols),
                                static_cast<double>(at % picture.shape.cols));
    picture.pixels[i] = static_cast<std::uint8_t>(std::clamp(level, 0.0, 255.0));
  }
  return picture;
}

}  // namespace

TEST_CASE("digit: the ten that come with tinymp are read, dark on light, and centred as MNIST has them") {
  for (int digit = 0; digit <= 9; ++digit) {
    CAPTURE(digit);
    const Digit read = data::read_digit(data::read_picture(drawn(digit)));
    CHECK(read.is_dark_ink);
    CHECK(read.image.shape == data::ImageShape{});
    const std::array<double, 2> at = centre(read.image.pixels);
    CHECK(std::abs(at[0] - 14) <= 0.5);
    CHECK(std::abs(at[1] - 14) <= 0.5);
    std::int64_t rows = 0;
    for (std::int64_t r = 0; r < 28; ++r)
      rows += std::any_of(read.image.pixels.begin() + r * 28, read.image.pixels.begin() + (r + 1) * 28,
                          [](std::uint8_t level) { return level > 0; });
    CHECK(rows == 20);  // each is taller than wide
    CHECK(*std::ranges::max_element(read.image.pixels) == 255);
  }
}

TEST_CASE("digit: chalk, a shadow, noise and specks change little") {
  for (const int digit : {0, 3, 8}) {
    CAPTURE(digit);
    const Picture clean = data::to_grey(data::read_picture(drawn(digit)));
    const Bytes expected = data::read_digit(clean).image.pixels;
    const Digit chalk =
        data::read_digit(changed(clean, [](double level, double, double) { return 255 - level; }));
    CHECK(!chalk.is_dark_ink);
    CHECK(difference(chalk.image.pixels, expected) < 0.05);

    const Digit shaded = data::read_digit(changed(clean, [](double level, double row, double col) {
      return level * (col + row / 4 > 120 ? 0.5 : 1.0) * (0.7 + 0.001 * row);
    }));
    CHECK(shaded.is_dark_ink);
    CHECK(difference(shaded.image.pixels, expected) < 0.1);

    Rng rng(5);
    const Digit noisy = data::read_digit(changed(clean, [&](double level, double row, double col) {
      const bool is_speck = row > 4 && row < 9 && col > 180 && col < 184;
      return is_speck ? 0.0 : 0.6 * level + 50 + static_cast<double>(rng.below(30));
    }));
    CHECK(noisy.is_dark_ink);
    CHECK(difference(noisy.image.pixels, expected) < 0.25);
  }
}

TEST_CASE("digit: a border of another level, as of a table beside the paper, is no ink") {
  const Picture clean = data::read_picture(drawn(6));
  const Picture framed =
      changed(clean, [](double level, double row, double) { return row < 12 ? 30.0 : level; });
  const Digit read = data::read_digit(framed), expected = data::read_digit(clean);
  CHECK(read.image.pixels == expected.image.pixels);
  CHECK(read.top == expected.top);
}

TEST_CASE("digit: where nothing is drawn") {
  const auto message = [](const Picture& picture) {
    return files::message<Error>([&] { data::read_digit(picture, "a.png"); });
  };
  CHECK(message({{50, 40, 1}, Bytes(2000, 255)}) ==
        "a.png: no ink stands out; draw one digit, thick and dark, on plain paper");
  CHECK(!message({{1, 1, 1}, {0}}).empty());
  CHECK(!message(changed({{60, 60, 1}, Bytes(3600, 0)}, [](double, double, double col) {
           return 60 + 3 * col;
         })).empty());
}

TEST_CASE("digit: the image of MNIST comes back from a canvas, and its centre is where MNIST has it") {
  const std::string folder = files::mnist_folder();
  if (folder.empty()) SKIP_TEST("TINYMP_DATA does not hold mnist");
  const data::IdxImages test = data::read_idx_images(folder + "/t10k-images-idx3-ubyte.gz");
  std::vector<double> off;
  std::array<double, 2> ours{}, theirs{};
  constexpr std::int64_t count = 100;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto image = std::span(test.pixels).subspan(static_cast<std::size_t>(i * 784), 784);
    const bool is_dark = i % 2 == 0;
    const Digit read = data::read_digit(on_canvas(image, 80, 11, 43, is_dark));
    CHECK(read.is_dark_ink == is_dark);
    off.push_back(difference(read.image.pixels, image));
    for (std::size_t k = 0; k < 2; ++k) {
      ours[k] += centre(read.image.pixels)[k] / count;
      theirs[k] += centre(image)[k] / count;
    }
    CHECK(!data::read_digit({{28, 28, 1}, {image.begin(), image.end()}})
               .is_dark_ink);  // as it is: light on dark
  }
  std::ranges::sort(off);
  INFO("median " << off[count / 2] << ", 90 % " << off[count * 9 / 10]);
  CHECK(off[count / 2] < 0.06);
  CHECK(off[count * 9 / 10] < 0.10);
  for (std::size_t k = 0; k < 2; ++k) CHECK(std::abs(ours[k] - theirs[k]) < 0.1);
}

TEST_CASE("input_from: what a network sees of a picture") {
  const Picture picture = data::read_picture(drawn(2));
  const data::PictureInput grey = data::input_from(picture, {}, "2.png");
  CHECK(grey.image.count == 1);
  CHECK(grey.image.images == data::read_digit(picture).image.pixels);
  CHECK(!grey.options.normalise);
  CHECK(grey.remark.starts_with("dark ink on light, "));
  const data::PictureInput colour = data::input_from(picture, {32, 32, 3}, "2.png");
  CHECK(colour.image.images == data::colour_32x32(picture).pixels);
  CHECK(colour.options.normalise.has_value());
  CHECK(data::InOrder(colour.image, 1, colour.options)[0].images.shape()[1] == 3072);
  CHECK_THROWS_AS(data::input_from(picture, {16, 16, 1}, "2.png"), Error);
}

TEST_CASE("input_from: a sentence tells what may surprise") {
  const Picture dark = data::read_picture(drawn(3));
  const auto notes = [](const Picture& picture, const data::ImageShape& shape = {}) {
    std::string all;
    for (const std::string& note : data::input_from(picture, shape, "a.png").notes) all += note + "\n";
    return all;
  };
  const auto says = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(says(notes(dark), "Inverted: the ink is dark"));
  CHECK(says(notes(dark), "Cropped: the digit takes "));
  CHECK(!says(notes(dark), "contrast"));
  CHECK(!says(notes(dark), "pieces"));
  const Picture chalk =
      changed(data::to_grey(dark), [](double level, double, double) { return 255 - level; });
  CHECK(!says(notes(chalk), "Inverted"));
  const Picture pale =
      changed(data::to_grey(dark), [](double level, double, double) { return 200 + level / 8; });
  CHECK(says(notes(pale), "Low contrast: the ink differs from its paper by "));
  Picture two{{60, 100, 1}, Bytes(6000, 255)};
  for (std::size_t r = 10; r < 50; ++r)
    for (const std::size_t c : {20u, 21u, 22u, 23u, 70u, 71u, 72u, 73u}) two.pixels[r * 100 + c] = 0;
  CHECK(says(notes(two), "2 pieces of ink that do not touch are read as one digit"));
  const data::ImageShape colour{32, 32, 3};
  CHECK(says(notes(dark, colour), "Cropped: only the square in the middle of the 200 x 260 pixels"));
  CHECK(notes({{40, 40, 3}, Bytes(4800, 90)}, colour).empty());
}

TEST_CASE("input_from: garments lie on black, pictures of a folder stay as they are") {
  Picture shirt{{56, 28, 1}, Bytes(56 * 28, 250)};
  for (std::size_t r = 8; r < 48; ++r)
    for (std::size_t c = 6; c < 22; ++c) shirt.pixels[r * 28 + c] = 100;
  const Bytes whole = data::input_from(shirt, {}, "a.png", data::PictureStyle::whole).image.images;
  CHECK(whole == data::grey_28x28(shirt).pixels);
  CHECK(whole[14 * 28 + 14] == 100);
  const data::PictureInput garment = data::input_from(shirt, {}, "a.png", data::PictureStyle::garment);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(garment.image.images[i] == 255 - whole[i]);
  REQUIRE(garment.notes.size() == 1);
  CHECK(garment.notes[0].starts_with("Inverted: the ground is light"));
  const Picture on_black = changed(shirt, [](double level, double, double) { return 255 - level; });
  const data::PictureInput as_is = data::input_from(on_black, {}, "a.png", data::PictureStyle::garment);
  CHECK(as_is.image.images == garment.image.images);
  CHECK(as_is.notes.empty());
}
