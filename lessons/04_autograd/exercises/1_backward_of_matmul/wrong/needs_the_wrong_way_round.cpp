// rejected: needs\(0\) is about dx
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  return {needs(1) ? product(dy, Trans::no, w, Trans::yes, x.shape(), sums) : Tensor(),
          needs(0) ? product(x, Trans::yes, dy, Trans::no, w.shape(), sums) : Tensor()};
}
