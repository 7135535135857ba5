// rejected: otherwise than forward kept its own: pass `sums` on
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  return {needs(0) ? product(dy, Trans::no, w, Trans::yes, x.shape(), DType::f32) : Tensor(),
          needs(1) ? product(x, Trans::yes, dy, Trans::no, w.shape(), DType::f32) : Tensor()};
}
