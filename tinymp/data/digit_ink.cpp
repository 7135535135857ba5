#include <tinymp/base/error.h>
#include <tinymp/data/digit_ink.h>
#include <tinymp/data/resize.h>
#include <algorithm>
#include <array>
#include <optional>

namespace tinymp::data {
namespace {

using Histogram = std::array<std::int64_t, 256>;

constexpr std::int64_t longest_side = 320;
constexpr int least_contrast = 20;  // levels; less is paper

std::size_t index(const ImageShape& shape, std::int64_t row, std::int64_t col) {
  return static_cast<std::size_t>(row * shape.cols + col);
}

Picture inverted(Picture grey) {
  for (std::uint8_t& level : grey.pixels) level = static_cast<std::uint8_t>(255 - level);
  return grey;
}

/// The mean of 3 x 3 pixels; at an edge of those there are.
Picture smoothed(const Picture& grey) {
  Picture mean{grey.shape, {}};
  mean.pixels.reserve(grey.pixels.size());
  for (std::int64_t r = 0; r < grey.shape.rows; ++r) {
    for (std::int64_t c = 0; c < grey.shape.cols; ++c) {
      int sum = 0, count = 0;
      for (std::int64_t y = std::max<std::int64_t>(r - 1, 0); y <= std::min(r + 1, grey.shape.rows - 1); ++y)
        for (std::int64_t x = std::max<std::int64_t>(c - 1, 0); x <= std::min(c + 1, grey.shape.cols - 1);
             ++x)
          sum += grey.at(y, x), ++count;
      mean.pixels.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
    }
  }
  return mean;
}

Histogram histogram_of(const std::vector<std::uint8_t>& levels) {
  Histogram counts{};
  for (const std::uint8_t level : levels) ++counts[level];
  return counts;
}

int median_of(const Histogram& counts, std::int64_t total) {
  std::int64_t below = 0;
  for (std::size_t level = 0; level < counts.size(); ++level)
    if ((below += counts[level]) * 2 >= total) return static_cast<int>(level);
  return 255;
}

/// The mean of the `most` highest levels.
int mean_of_top(const Histogram& counts, std::int64_t most) {
  std::int64_t sum = 0, taken = 0;
  for (std::size_t level = counts.size(); level-- > 0 && taken < most;) {
    const std::int64_t more = std::min(counts[level], most - taken);
    sum += more * static_cast<std::int64_t>(level);
    taken += more;
  }
  return taken == 0 ? 0 : static_cast<int>(sum / taken);
}

/// The typical difference of a pixel from the mean around it: 0 in a drawing.
int noise_of(const Picture& grey) {
  const Picture mean = smoothed(grey);
  std::vector<std::uint8_t> differences;
  differences.reserve(grey.pixels.size());
  for (std::size_t i = 0; i < grey.pixels.size(); ++i)
    differences.push_back(static_cast<std::uint8_t>(std::abs(grey.pixels[i] - mean.pixels[i])));
  return median_of(histogram_of(differences), static_cast<std::int64_t>(differences.size()));
}

std::uint8_t larger(std::uint8_t a, std::uint8_t b) { return std::max(a, b); }
std::uint8_t smaller(std::uint8_t a, std::uint8_t b) { return std::min(a, b); }

using Choose = std::uint8_t (*)(std::uint8_t, std::uint8_t);

/// Each number becomes the chosen one of the 2 radius + 1 around it; beyond its ends the line goes on as it ends.
/// Doubling: after k rounds line[i] is chosen from 2^k numbers, and two such runs cover a window.
void choose_along(std::vector<std::uint8_t>& line, std::size_t radius, Choose choose) {
  const std::size_t length = line.size(), window = 2 * radius + 1;
  line.insert(line.begin(), radius, line.front());
  line.insert(line.end(), radius, line.back());
  std::size_t run = 1;
  for (; 2 * run <= window; run *= 2)
    for (std::size_t i = 0; i + run < line.size(); ++i) line[i] = choose(line[i], line[i + run]);
  for (std::size_t i = 0; i < length; ++i) line[i] = choose(line[i], line[i + window - run]);
  line.resize(length);
}

/// The same in a square around each pixel: along rows, then along columns.
void choose_around(Picture& picture, std::int64_t radius, Choose choose) {
  const auto rows = static_cast<std::size_t>(picture.shape.rows),
             cols = static_cast<std::size_t>(picture.shape.cols);
  std::vector<std::uint8_t> line;
  for (const bool is_row : {true, false}) {
    const std::size_t step = is_row ? 1 : cols;
    for (std::size_t k = 0; k < (is_row ? rows : cols); ++k) {
      const std::size_t first = is_row ? k * cols : k;
      line.resize(is_row ? cols : rows);
      for (std::size_t i = 0; i < line.size(); ++i) line[i] = picture.pixels[first + i * step];
      choose_along(line, static_cast<std::size_t>(radius), choose);
      for (std::size_t i = 0; i < line.size(); ++i) picture.pixels[first + i * step] = line[i];
    }
  }
}

/// Goes on beyond each edge for so many pixels as it is there: a strip of paper beside the ink must not look
/// narrow because the picture ends.
Picture widened(const Picture& grey, std::int64_t by) {
  Picture wide{{grey.shape.rows + 2 * by, grey.shape.cols + 2 * by, 1}, {}};
  wide.pixels.reserve(static_cast<std::size_t>(wide.shape.size()));
  for (std::int64_t r = 0; r < wide.shape.rows; ++r)
    for (std::int64_t c = 0; c < wide.shape.cols; ++c)
      wide.pixels.push_back(grey.at(std::clamp<std::int64_t>(r - by, 0, grey.shape.rows - 1),
                                    std::clamp<std::int64_t>(c - by, 0, grey.shape.cols - 1)));
  return wide;
}

/// How much darker each pixel is than the paper around it, of 255; a share of the paper's own level if
/// `is_lit`, since ink and paper in a shadow both lose the same share of their light.
Picture black_hat(const Picture& grey, std::int64_t radius, bool is_lit) {
  Picture paper = widened(grey, 2 * radius);
  choose_around(paper, radius, larger);
  choose_around(paper, radius, smaller);
  Picture hat{grey.shape, {}};
  hat.pixels.reserve(grey.pixels.size());
  for (std::int64_t r = 0; r < grey.shape.rows; ++r) {
    for (std::int64_t c = 0; c < grey.shape.cols; ++c) {
      const int level = paper.at(r + 2 * radius, c + 2 * radius), darker = level - grey.at(r, c);
      hat.pixels.push_back(static_cast<std::uint8_t>(is_lit ? darker * 255 / std::max(level, 64) : darker));
    }
  }
  return hat;
}

// Connected pieces
// --------------------------------------------------------------

struct Piece {
  std::int64_t area = 0;  ///< pixels of the mask
  bool touches_edge = false;
};

struct Pieces {
  std::vector<std::int32_t> number{};  ///< (H,W), 0 for none; piece i is pieces[i - 1]
  std::vector<Piece> pieces{};
};

/// Numbers the pieces of `near`, 8 neighbours each, and counts the pixels of `mask` in them.
Pieces connected(const Picture& near, const Picture& mask) {
  const ImageShape& shape = near.shape;
  Pieces found{std::vector<std::int32_t>(near.pixels.size()), {}};
  std::vector<std::size_t> open;
  for (std::size_t seed = 0; seed < near.pixels.size(); ++seed) {
    if (near.pixels[seed] == 0 || found.number[seed] != 0) continue;
    Piece& piece = found.pieces.emplace_back();
    const auto number = static_cast<std::int32_t>(found.pieces.size());
    found.number[seed] = number;
    open.assign(1, seed);
    while (!open.empty()) {
      const auto at = static_cast<std::int64_t>(open.back());
      open.pop_back();
      const std::int64_t row = at / shape.cols, col = at % shape.cols;
      const bool is_ink = mask.at(row, col) != 0;
      piece.area += is_ink;
      const bool is_edge = row == 0 || col == 0 || row == shape.rows - 1 || col == shape.cols - 1;
      piece.touches_edge = piece.touches_edge || (is_ink && is_edge);
      for (std::int64_t y = std::max<std::int64_t>(row - 1, 0); y <= std::min(row + 1, shape.rows - 1); ++y) {
        for (std::int64_t x = std::max<std::int64_t>(col - 1, 0); x <= std::min(col + 1, shape.cols - 1);
             ++x) {
          const std::size_t next = index(shape, y, x);
          if (near.pixels[next] == 0 || found.number[next] != 0) continue;
          found.number[next] = number;
          open.push_back(next);
        }
      }
    }
  }
  return found;
}

/// The pieces that are no specks and no edge of the paper; for each number whether it is kept.
std::vector<bool> kept(const Pieces& found) {
  std::int64_t inside = 0, largest = 0;
  for (const Piece& piece : found.pieces) {
    largest = std::max(largest, piece.area);
    if (!piece.touches_edge) inside = std::max(inside, piece.area);
  }
  const bool only_inside = inside * 10 >= largest;
  std::vector<bool> keep{false};
  for (const Piece& piece : found.pieces)
    keep.push_back(!(only_inside && piece.touches_edge) &&
                   piece.area * 10 >= (only_inside ? inside : largest));
  return keep;
}

// --------------------------------------------------------------

/// What would be ink if it were dark.
struct Candidate {
  Picture levels{};  ///< 0 .. 255
  int contrast = 0;
  Box box{};
  int pieces = 0;
};

/// What lies between the strokes of a digit lies within the box around it: is `outer` the larger box, and `inner`
/// within it, or out of it by a 50th?
bool encloses(const Box& outer, const Box& inner) {
  const std::int64_t slack = 1 + std::max(outer.rows, outer.cols) / 50;
  return outer.rows * outer.cols > inner.rows * inner.cols && outer.top <= inner.top + slack &&
         outer.left <= inner.left + slack && outer.top + outer.rows + slack >= inner.top + inner.rows &&
         outer.left + outer.cols + slack >= inner.left + inner.cols;
}

std::optional<Candidate> dark_ink(const Picture& grey, bool is_lit, bool is_noisy) {
  const std::int64_t shorter = std::min(grey.shape.rows, grey.shape.cols);
  const Picture darker = black_hat(grey, std::max<std::int64_t>(2, shorter * 35 / 200), is_lit);
  const auto all = static_cast<std::int64_t>(darker.pixels.size());
  const Histogram counts = histogram_of(darker.pixels);
  const int paper = median_of(counts, all);
  const int most = mean_of_top(counts, std::max<std::int64_t>(8, all * 3 / 1000));
  if (most - paper < least_contrast) return {};
  const auto part = [&](int percent) { return paper + (most - paper) * percent / 100; };
  const int ink = part(45), least = part(is_noisy ? 25 : 8), full = part(is_noisy ? 75 : 100);
  Picture mask{grey.shape, {}};
  mask.pixels.reserve(darker.pixels.size());
  for (const std::uint8_t level : darker.pixels) mask.pixels.push_back(level > ink ? 1 : 0);
  Picture near = mask;
  choose_around(near, std::max<std::int64_t>(1, shorter / 100), larger);  // broken strokes belong together
  const Pieces found = connected(near, mask);
  const std::vector<bool> keep = kept(found);
  Candidate candidate{{grey.shape, {}}, most - paper, {}};
  for (std::size_t i = 0; i < darker.pixels.size(); ++i) {
    const int level = (darker.pixels[i] - least) * 255 / std::max(1, full - least);
    const bool is_kept = keep[static_cast<std::size_t>(found.number[i])];
    candidate.levels.pixels.push_back(is_kept ? static_cast<std::uint8_t>(std::clamp(level, 0, 255)) : 0);
  }
  candidate.box = box_around(candidate.levels);
  candidate.pieces = static_cast<int>(std::ranges::count(keep, true));
  return candidate;
}

}  // namespace

Box box_around(const Picture& levels) {
  std::int64_t top = levels.shape.rows, left = levels.shape.cols, bottom = -1, right = -1;
  for (std::int64_t r = 0; r < levels.shape.rows; ++r) {
    for (std::int64_t c = 0; c < levels.shape.cols; ++c) {
      if (levels.at(r, c) == 0) continue;
      top = std::min(top, r), bottom = r;
      left = std::min(left, c), right = std::max(right, c);
    }
  }
  return bottom < 0 ? Box{} : Box{top, left, bottom - top + 1, right - left + 1};
}

Ink find_ink(const Picture& picture, const std::string& path) {
  Picture grey = to_grey(picture);
  const std::int64_t longer = std::max(grey.shape.rows, grey.shape.cols);
  if (longer > longest_side) {
    const auto length = [&](std::int64_t old) {
      return std::max<std::int64_t>(1, (old * longest_side + longer / 2) / longer);
    };
    grey = resized(grey, length(grey.shape.rows), length(grey.shape.cols));
  }
  const int noise = noise_of(grey);
  if (noise > 2) grey = smoothed(grey);
  if (noise > 8) grey = smoothed(grey);
  std::optional<Candidate> dark = dark_ink(grey, true, noise > 2),
                           light = dark_ink(inverted(grey), false, noise > 2);
  expect(dark || light, path, ": no ink stands out; draw one digit, thick and dark, on plain paper");
  const bool is_light =
      !dark || (light && (light->contrast > 2 * dark->contrast ||
                          (2 * light->contrast > dark->contrast && encloses(light->box, dark->box))));
  Candidate& ink = is_light ? *light : *dark;
  return {std::move(ink.levels), ink.box, !is_light, ink.contrast, ink.pieces};
}

}  // namespace tinymp::data
