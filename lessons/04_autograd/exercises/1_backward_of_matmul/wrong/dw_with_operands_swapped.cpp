// rejected: gives dw transposed
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  return {needs(0) ? product(dy, Trans::no, w, Trans::yes, x.shape(), sums) : Tensor(),
          needs(1) ? product(dy, Trans::yes, x, Trans::no, w.shape(), sums) : Tensor()};
}
