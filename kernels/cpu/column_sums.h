#pragma once

#include <kernels/cpu/rows.h>
#include <kernels/formulas/row_chunks.h>
#include <array>

/// Sums down the rows of (B,O). Each chunk of rows is one chain for each column, from its first row to its
/// last. The sums of the chunks are added in order. Threads share out chunks and strips of columns, which
/// changes no chain.
namespace tinymp::kernels::cpu {

/// Columns c .. c + n; `height` of their rows fill a block.
struct Strip {
  static constexpr std::int64_t width = 128;
  std::int64_t c, n, height;
};

/// The terms that rows add to the sums of a strip: row r begins at values + r * stride.
template <class C>
struct Terms {
  const C* values;
  std::int64_t stride;
};

/// Rows row .. row + count of a strip, contiguous in memory.
template <class C>
const C* load_rows(const View& x, std::int64_t row, std::int64_t count, const Strip& strip, Block<C>& block) {
  const std::int64_t columns = x.cols();
  if (strip.n == columns) return load(x, row * columns, count * columns, block);
  for (std::int64_t r = 0; r < count; ++r)
    read(x, (row + r) * columns + strip.c, strip.n, block.data() + r * strip.n);
  return block.data();
}

/// sums[i] += values[i] for `width` columns, row after row; the sums stay in registers.
template <int width, class C>
TINYMP_INLINE void add_rows(const Terms<C>& terms, std::int64_t rows, C* sums) {
  C kept[width];
  for (int i = 0; i < width; ++i) kept[i] = sums[i];
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int i = 0; i < width; ++i) kept[i] += terms.values[row * terms.stride + i];
  }
  for (int i = 0; i < width; ++i) sums[i] = kept[i];
}

/// The same for the last n <= width columns.
template <int width, class C>
TINYMP_INLINE void add_last_rows(const Terms<C>& terms, std::int64_t rows, std::int64_t n, C* sums) {
  if (n == width) return add_rows<width>(terms, rows, sums);
  if constexpr (width > 1) add_last_rows<width - 1>(terms, rows, n, sums);
}

// <exercise add_rounded>
/// Adds rows of n terms to n sums, each addition rounded to `format`.
inline void add_rounded(const Terms<float>& terms, std::int64_t rows, std::int64_t n, DType format,
                        float* sums) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t begin = row * terms.stride;
    for (std::int64_t i = 0; i < n; ++i) {
      const float term = terms.values[begin + i];
      sums[i] += term;
    }
    round_to(format, sums, n);
  }
}
// </exercise add_rounded>

/// The same for sums in any format.
template <class C>
void add_terms(const Terms<C>& terms, std::int64_t rows, std::int64_t n, DType format, C* sums) {
  if constexpr (std::is_same_v<C, float>) {
    if (format == DType::f16) return add_rounded(terms, rows, n, format, sums);
  }
  on_best_isa([=] {
    const auto from = [&](std::int64_t c) { return Terms<C>{terms.values + c, terms.stride}; };
    std::int64_t c = 0;
    for (; c + 64 <= n; c += 64) add_rows<64>(from(c), rows, sums + c);
    for (; c + 16 <= n; c += 16) add_rows<16>(from(c), rows, sums + c);
    add_last_rows<15>(from(c), rows, n - c, sums + c);
  });
}

/// Computes several sums for each column of x at once. make_terms(strip) returns an object `terms` that a
/// strip needs while it is summed: terms(row, count) returns the terms that rows row .. row + count add to
/// each sum.
template <class C, std::size_t several, class MakeTerms>
void sum_columns(const View& x, const Accumulation& how, MakeTerms&& make_terms,
                 const std::array<C*, several>& totals) {
  const std::int64_t rows = x.rows(), columns = x.cols(), length = rows_in_chunk(how, rows);
  const std::int64_t chunks = (rows + length - 1) / length;
  const std::int64_t strips = (columns + Strip::width - 1) / Strip::width;
  const Scratch<C> partial(static_cast<std::int64_t>(several) * chunks * columns);
  const auto sums_of = [&](std::size_t k, std::int64_t chunk) {
    return partial.data() + (static_cast<std::int64_t>(k) * chunks + chunk) * columns;
  };
  const auto sum_strip = [&](std::int64_t chunk, std::int64_t c) {
    const std::int64_t n = std::min(Strip::width, columns - c), end = std::min(rows, (chunk + 1) * length);
    const Strip strip{c, n, std::min(length, block_size / n)};
    auto terms = make_terms(strip);
    for (std::size_t k = 0; k < several; ++k) std::fill_n(sums_of(k, chunk) + c, n, C(0));
    for (std::int64_t row = chunk * length; row < end; row += strip.height) {
      const std::int64_t count = std::min(strip.height, end - row);
      const std::array<Terms<C>, several> added = terms(row, count);
      for (std::size_t k = 0; k < several; ++k)
        add_terms(added[k], count, n, how.format, sums_of(k, chunk) + c);
    }
  };
  const std::int64_t of_a_strip = std::max<std::int64_t>(1, std::min(length, rows) * Strip::width);
  parallel_for(chunks * strips, std::max<std::int64_t>(1, grain / of_a_strip),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t unit = first; unit < last; ++unit)
                   sum_strip(unit / strips, unit % strips * Strip::width);
               });
  for (std::size_t k = 0; k < several; ++k) {
    std::fill_n(totals[k], columns, C(0));
    add_terms<C>({sums_of(k, 0), columns}, chunks, columns, how.format, totals[k]);
  }
}

/// The terms of a plain sum.
template <class C>
struct EachValue {
  const View& x;
  Strip strip;
  Block<C> in;
  std::array<Terms<C>, 1> operator()(std::int64_t row, std::int64_t count) {
    if (x.dtype == dtype_of<C>) return {{{x.data<C>() + row * x.cols() + strip.c, x.cols()}}};
    return {{{load_rows(x, row, count, strip, in), strip.n}}};
  }
};

}  // namespace tinymp::kernels::cpu
