#include <kernels/formulas/row_chunks.h>
#include <tinymp/optim/split_norm.h>
#include <algorithm>

namespace tinymp {
namespace {

using kernels::lane_chunk;

/// Calls piece(chunk, begin, end, is_whole) for each chunk that the elements lie in, with those of the chunk.
template <class Piece>
void for_each_piece(const ElementRange& range, std::int64_t all, const Piece& piece) {
  for (std::int64_t at = range.begin; at < range.end;) {
    const std::int64_t chunk = at / lane_chunk, first = chunk * lane_chunk;
    const std::int64_t last = std::min(first + lane_chunk, all), end = std::min(last, range.end);
    piece(chunk, at, end, at == first && end == last);
    at = end;
  }
}

double sum_in_order(const std::vector<double>& terms) {
  return kernels::sum_in_lanes<double>(std::ssize(terms),
                                       [&](std::int64_t i) { return terms[static_cast<std::size_t>(i)]; });
}

}  // namespace

std::vector<double> squares_of(const Tensor& x, float factor, const ElementRange& own, std::int64_t all) {
  std::vector<double> told;
  for_each_piece(own, all, [&](std::int64_t, std::int64_t begin, std::int64_t end, bool is_whole) {
    std::vector<double> squares;
    for (const float value : x.slice(begin - own.begin, Shape{end - begin}).to_floats()) {
      const double v = static_cast<double>(value * factor);
      squares.push_back(v * v);
    }
    if (is_whole) squares = {sum_in_order(squares)};
    told.insert(told.end(), squares.begin(), squares.end());
  });
  return told;
}

double sum_of_squares(std::span<const std::vector<double>> of, std::span<const ElementRange> ranges,
                      std::int64_t all) {
  std::vector<double> sums(static_cast<std::size_t>((all + lane_chunk - 1) / lane_chunk));
  std::vector<double> begun;  // the squares of a chunk that several parts have elements of
  for (std::size_t r = 0; r < of.size(); ++r) {
    auto next = of[r].begin();
    for_each_piece(ranges[r], all,
                   [&](std::int64_t chunk, std::int64_t begin, std::int64_t end, bool is_whole) {
                     double& sum = sums[static_cast<std::size_t>(chunk)];
                     if (is_whole) {
                       sum = *next++;
                       return;
                     }
                     begun.insert(begun.end(), next, next + (end - begin));
                     next += end - begin;
                     if (end != std::min((chunk + 1) * lane_chunk, all)) return;
                     sum = sum_in_order(begun);
                     begun.clear();
                   });
  }
  return sum_in_order(sums);
}

}  // namespace tinymp
