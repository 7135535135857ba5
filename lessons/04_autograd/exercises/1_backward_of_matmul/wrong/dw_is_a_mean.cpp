// rejected: divides dw by the batch
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  Tensor dx, dw;
  if (needs(0)) dx = product(dy, Trans::no, w, Trans::yes, x.shape(), sums);
  if (needs(1)) {
    dw = product(x, Trans::yes, dy, Trans::no, w.shape(), sums);
    kernels::scale(dw.view(), 1.0 / static_cast<double>(x.shape()[0]), dw.view());  // the mean over the batch
  }
  return {dx, dw};
}
