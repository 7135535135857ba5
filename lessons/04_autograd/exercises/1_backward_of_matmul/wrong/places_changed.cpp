// rejected: each other's place
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  const Tensor dx = needs(0) ? product(dy, Trans::no, w, Trans::yes, x.shape(), sums) : Tensor();
  const Tensor dw = needs(1) ? product(x, Trans::yes, dy, Trans::no, w.shape(), sums) : Tensor();
  return {dw, dx};
}
