#include <tinymp/ops/float8_operands.h>

namespace tinymp {

std::optional<Float8Operands> Float8Operands::of(const Tensor& x, const Tensor& w, const char* op,
                                                 DType sums) {
  const std::shared_ptr<ProductPolicy>& policy = product_policy();
  if (policy == nullptr || !policy->covers(w)) return std::nullopt;
  expect(sums == DType::f32, op, ": a product in FP8 has sums in f32, not ", sums,
         "; take --accumulator f32, or exempt this layer");
  return Float8Operands{policy->activation(x, w), policy->weight(w), w, policy};
}

kernels::Float8Product Float8Operands::scales(const Float8Tensor& a, const Float8Tensor& b) {
  const auto cell = [](const Tensor& scale) -> std::optional<Cell<const float>> {
    if (!scale) return std::nullopt;
    return Cell<const float>(scale.view().data<float>(), scale.device());
  };
  return {.scale_a = cell(a.scale), .scale_b = cell(b.scale)};
}

Tensor Float8Operands::gradient_of_weight(const std::function<void(const View& dw)>& product) const {
  const Tensor dw = weight.place_for_grad();
  const bool in_place = !policy->rounds_gradients() || dw.dtype() == DType::f32;
  const Tensor sums = in_place ? dw : Tensor(dw.shape(), DType::f32, dw.device());
  product(sums.view());
  if (policy->rounds_gradients()) policy->round_gradient(sums, dw, weight);
  return dw;
}

std::vector<Tensor> product_gradients(const Float8Operands& of, const Tensor& x, const Tensor& dy,
                                      const Needs& needs) {
  using kernels::Trans;
  const Float8Tensor error = of.error(dy);
  std::vector<Tensor> grads(2);
  if (needs(0)) {
    grads[0] = x.place_for_grad();
    kernels::gemm(error.values.view(), Trans::no, of.w.values.view(), Trans::yes, grads[0].view(), DType::f32,
                  {.float8 = Float8Operands::scales(error, of.w)});
  }
  if (needs(1)) {
    grads[1] = of.gradient_of_weight([&](const View& dw) {
      kernels::gemm(of.x.values.view(), Trans::yes, error.values.view(), Trans::no, dw, DType::f32,
                    {.float8 = Float8Operands::scales(of.x, error)});
    });
  }
  return grads;
}

}  // namespace tinymp
