// rejected: forgets dloss
void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                            const View& row_log_sum, const View& dloss, const View& dlogits) {
  const std::int64_t batch = logits.rows(), columns = logits.cols();
  with_compute_type(logits.dtype, [&]<class C> {
    const C factor = C(1) / static_cast<C>(batch);
    for_row_groups<C>(logits, [&](std::int64_t b, std::int64_t rows, C* x) {
      read(logits, b * columns, rows * columns, x);
      for (std::int64_t r = 0; r < rows; ++r) {
        const C top = row_top.data<C>()[b + r], log_sum = row_log_sum.data<C>()[b + r];
        const std::int64_t label = label_of(labels, b + r);
        for (std::int64_t c = 0; c < columns; ++c) {
          const C softmax = exp((x[r * columns + c] - top) - log_sum);
          x[r * columns + c] = (softmax - (c == label ? C(1) : C(0))) * factor;
        }
      }
      store<C>(x, dlogits, b * columns, rows * columns);
    });
  });
}
