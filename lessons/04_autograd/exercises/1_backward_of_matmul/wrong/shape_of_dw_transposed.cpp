// rejected: fits its tensor
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  const std::int64_t I = w.shape()[0], O = w.shape()[1];
  return {needs(0) ? product(dy, Trans::no, w, Trans::yes, x.shape(), sums) : Tensor(),
          needs(1) ? product(x, Trans::yes, dy, Trans::no, {O, I}, sums) : Tensor()};
}
