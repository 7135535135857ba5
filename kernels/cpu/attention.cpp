#include <kernels/cpu/reduce.h>
#include <kernels/cpu/rows.h>
#include <kernels/executors.h>
#include <kernels/formulas/along_row.h>

namespace tinymp::kernels::cpu {
namespace {

/// True if a matrix can be read and written where it lies.
template <class C>
bool lies_whole(const View& x, const HeadMatrices& of) {
  return x.dtype == dtype_of<C> && of.ld == of.cols;
}

/// One matrix at a time as gemm() takes it: where it lies, or copied here.
template <class C>
class OneHead {
 public:
  OneHead(const View& x, std::int64_t heads)
      : x_(x), of_(HeadMatrices::of(x, heads)), room_(lies_whole<C>(x, of_) ? 0 : of_.rows * of_.cols) {}

  View whole(std::int64_t matrix) const {
    C* const at = room_.data() != nullptr ? room_.data() : x_.data<C>() + of_.first_of(matrix);
    return {at, dtype_of<C>, Device::cpu, {of_.rows, of_.cols}};
  }
  View read(std::int64_t matrix) const {
    const std::int64_t first = of_.first_of(matrix);
    for (std::int64_t r = 0; room_.data() != nullptr && r < of_.rows; ++r)
      cpu::read(x_, first + r * of_.ld, of_.cols, room_.data() + r * of_.cols);
    return whole(matrix);
  }
  void write(std::int64_t matrix) const {
    const std::int64_t first = of_.first_of(matrix);
    for (std::int64_t r = 0; room_.data() != nullptr && r < of_.rows; ++r)
      store<C>(room_.data() + r * of_.cols, x_, first + r * of_.ld, of_.cols);
  }

 private:
  const View& x_;
  HeadMatrices of_;
  Scratch<C> room_;
};

// <exercise masked_softmax>
/// softmax(scale x) over what each row sees, and 0 elsewhere, in place. The first row is row `first` of the mask.
template <class C>
void masked_softmax(C* x, std::int64_t first, std::int64_t rows, std::int64_t columns,
                    const AttentionMask& mask, C scale) {
  for (std::int64_t r = 0; r < rows; ++r) {
    C* row = x + r * columns;
    const std::int64_t seen = mask.seen_by(first + r, columns);
    for (std::int64_t c = 0; c < seen; ++c) row[c] = scale * row[c];
    const C top = seen > 0 ? largest<C>(row, seen) : C(0);
    for (std::int64_t c = 0; c < seen; ++c) row[c] -= top;
  }
  exp_all(rows * columns, x);
  for (std::int64_t r = 0; r < rows; ++r) {
    C* row = x + r * columns;
    const std::int64_t seen = mask.seen_by(first + r, columns);
    const C sum = long_lane_sum<C>(seen, [row](std::int64_t c) { return row[c]; });
    for (std::int64_t c = 0; c < seen; ++c) row[c] = row[c] / sum;
    std::fill(row + seen, row + columns, C(0));
  }
}
// </exercise masked_softmax>

}  // namespace

void gemm_of_heads(const View& a, Trans ta, const View& b, Trans tb, const View& c, std::int64_t heads) {
  if (c.size() == 0) return;
  with_compute_type(a.dtype, [&]<class C> {
    parallel_for(c.shape[0] * heads, 1, [&](std::int64_t first, std::int64_t last) {
      const OneHead<C> left(a, heads), right(b, heads), product(c, heads);
      for (std::int64_t i = first; i < last; ++i) {
        cpu::gemm(left.read(i), ta, right.read(i), tb, product.whole(i), dtype_of<C>, {});
        product.write(i);
      }
    });
  });
}

void attention_softmax(const View& scores, const AttentionMask& mask, double scale, const View& p) {
  const std::int64_t columns = scores.cols();
  with_compute_type(scores.dtype, [&]<class C> {
    for_row_groups<C>(scores, [&](std::int64_t b, std::int64_t rows, C* values) {
      read(scores, b * columns, rows * columns, values);
      masked_softmax<C>(values, b, rows, columns, mask, static_cast<C>(scale));
      store<C>(values, p, b * columns, rows * columns);
    });
  });
}

void attention_softmax_backward(const View& p, const View& dp, const AttentionMask& mask, double scale,
                                const View& errors) {
  const std::int64_t columns = p.cols();
  with_compute_type(p.dtype, [&]<class C> {
    for_row_groups<C, 2>(p, [&](std::int64_t b, std::int64_t rows, C* shares, C* values) {
      read(p, b * columns, rows * columns, shares);
      read(dp, b * columns, rows * columns, values);
      for (std::int64_t r = 0; r < rows; ++r) {
        C *share = shares + r * columns, *d = values + r * columns;
        const std::int64_t seen = mask.seen_by(b + r, columns);
        const C mean = long_lane_sum<C>(seen, [=](std::int64_t c) { return d[c] * share[c]; });
        for (std::int64_t c = 0; c < seen; ++c) d[c] = static_cast<C>(scale) * (share[c] * (d[c] - mean));
        std::fill(d + seen, d + columns, C(0));
      }
      store<C>(values, errors, b * columns, rows * columns);
    });
  });
}

}  // namespace tinymp::kernels::cpu
