// rejected: writes over dy
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  const Tensor dw = needs(1) ? product(x, Trans::yes, dy, Trans::no, w.shape(), sums) : Tensor();
  if (!needs(0)) return {Tensor(), dw};
  const Tensor dx = product(dy, Trans::no, w, Trans::yes, x.shape(), sums);
  if (!(dx.shape() == dy.shape())) return {dx, dw};
  kernels::cast(dx.view(), dy.view());  // dy has done its duty: dx may have its memory
  return {dy, dw};
}
