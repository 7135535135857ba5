// Exercise 4.3: backward of cross-entropy.
//
// Forward has computed, from logits (batch, columns) and one label for each row,
//
//     loss    = mean over the rows of (top - logit of the row's label) + log_sum
//     top     = the largest logit of the row
//     log_sum = log of the sum over the row of exp(logit - top)
//
// and has kept top and log_sum of each row as two numbers: in one float their sum would lose the digits of
// the second if the first is large. `dloss` is the gradient of the loss, one number: 1, or the loss scale.
// Write dloss/dlogit of every logit into dlogits, which has the format of the logits.
//
// for_row_groups calls the part in braces for some rows at a time, rows b .. b + rows - 1 of the batch.
// `read` has widened them: logit c of row b + r is x[r * columns + c], as a C (float; double for FP64
// logits). `store` rounds x to the format of dlogits, once, at the end: a number that is too small for FP16
// may be large enough after the multiplication by the loss scale.
//
// You can use exp(v); label_of(labels, i), the label of row i of the batch; row_top.data<C>()[i] and
// row_log_sum.data<C>()[i];
// *dloss.data<C>(), and share_of(dloss, 1, n), which is dloss / n without overflow on the way;
// and for speed exp_all(n, x), which replaces n values by their exp.
void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                            const View& row_log_sum, const View& dloss, const View& dlogits) {
  const std::int64_t batch = logits.rows(), columns = logits.cols();
  with_compute_type(logits.dtype, [&]<class C> {
    for_row_groups<C>(logits, [&](std::int64_t b, std::int64_t rows, C* x) {
      read(logits, b * columns, rows * columns, x);
      // TODO: x holds logits; make gradients of them.
      store<C>(x, dlogits, b * columns, rows * columns);
    });
  });
}
