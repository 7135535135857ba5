// Exercise 4.1: backward of a matrix product.
//
// Forward has computed
//
//     y = x . w        (B,O) = (B,I)(I,O)
//
// and `dy` is dloss/dy, with the shape and format of y. Return dloss/dx and dloss/dw, in this order:
//
//   - dx has the shape and format of x, dw those of w.
//   - needs(0) says whether dx is needed, needs(1) whether dw is. Do not compute a gradient that is not
//     needed: return an empty Tensor() in its place.
//   - The running sums are kept in the format `sums`, as in forward.
//   - x, w and dy are used elsewhere too: do not write into them.
//
// product(a, ta, b, tb, of, sums) returns op(a) . op(b) as the gradient of the tensor `of`, in the shape and
// format of `of`. ta and tb are Trans::no, or Trans::yes for a transposed matrix.
//
// matmul() and linear() both call this: every layer of every model learns through what you write.
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  // TODO: dx and dw.
  return {Tensor(), Tensor()};
}
