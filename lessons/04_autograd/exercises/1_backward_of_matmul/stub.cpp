// Exercise 4.1: backward of a matrix product.
//
// Forward has computed
//
//     y = x . w        (B,O) = (B,I)(I,O)
//
// and `dy` is dloss/dy, of y's shape and format. Return dloss/dx and dloss/dw, in this order:
//
//   - dx has the shape and format of x, dw those of w.
//   - needs(0) says whether anybody wants dx, needs(1) dw. What nobody wants is not computed: return an empty
//     Tensor() in its place.
//   - The running sums are kept in the format `sums`, as in forward.
//   - x, w and dy belong to others too: do not write into them.
//
// At hand: product(a, ta, b, tb, shape, sums) gives a new tensor of that shape and of a's format,
// op(a) . op(b); ta and tb are Trans::no, or Trans::yes for a transposed matrix.
//
// matmul() and linear() both end here: with your text, every layer of every model learns through it.
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  // TODO: dx and dw.
  return {Tensor(), Tensor()};
}
