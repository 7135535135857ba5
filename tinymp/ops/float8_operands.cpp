#include <tinymp/ops/float8_operands.h>

namespace tinymp {

std::optional<Float8Operands> Float8Operands::of(const Tensor& x, const Tensor& w, const char* op,
                                                 DType sums) {
  const std::shared_ptr<ProductPolicy>& policy = product_policy();
  if (policy == nullptr || !policy->covers(w)) return std::nullopt;
  expect(sums == DType::f32, op, ": a product in FP8 has sums in f32, not ", sums,
         "; take --accumulate f32, or exempt this layer");
  return Float8Operands{policy->activation(x, w), policy->weight(w), w, policy};
}

kernels::Float8Product Float8Operands::scales(const Float8Tensor& a, const Float8Tensor& b) {
  const auto cell = [](const Tensor& scale) -> std::optional<Cell<const float>> {
    if (!scale) return std::nullopt;
    return Cell<const float>(scale.view().data<float>(), scale.device());
  };
  return {.scale_a = cell(a.scale), .scale_b = cell(b.scale)};
}

std::vector<Tensor> product_gradients(const Float8Operands& of, const Tensor& x, const Tensor& w,
                                      const Tensor& dy, const Needs& needs) {
  using kernels::Trans;
  const Float8Tensor error = of.error(dy);
  std::vector<Tensor> grads(2);
  if (needs(0)) {
    grads[0] = x.place_for_grad();
    kernels::gemm(error.values.view(), Trans::no, of.w.values.view(), Trans::yes, grads[0].view(), DType::f32,
                  {.float8 = Float8Operands::scales(error, of.w)});
  }
  if (needs(1)) {
    grads[1] = w.place_for_grad();
    kernels::gemm(of.x.values.view(), Trans::yes, error.values.view(), Trans::no, grads[1].view(), DType::f32,
                  {.float8 = Float8Operands::scales(of.x, error)});
    of.round_gradient(grads[1]);
  }
  return grads;
}

}  // namespace tinymp
