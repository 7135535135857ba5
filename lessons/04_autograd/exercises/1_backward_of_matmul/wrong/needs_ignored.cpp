// rejected: nobody needs
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  return {product(dy, Trans::no, w, Trans::yes, x.shape(), sums),
          product(x, Trans::yes, dy, Trans::no, w.shape(), sums)};
}
