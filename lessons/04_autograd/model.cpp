#include <kernels/kernels.h>
#include <lessons/04_autograd/model.h>

namespace tinymp::lab {

CastMlp::CastMlp(Casts casts, Rng& rng)
    : casts_(casts), first_(784, 64, recipes::fp32, rng), second_(64, 10, recipes::fp32, rng) {}

Tensor CastMlp::operator()(const Tensor& images) const {
  const DType format = casts_ == Casts::none ? DType::f32 : DType::f16;
  const Tensor w1 = casts_ == Casts::one_beside ? rounded_beside_the_tape(first_.weight, format)
                                                : cast(first_.weight, format);
  const Tensor b1 =
      casts_ == Casts::one_beside ? rounded_beside_the_tape(first_.bias, format) : cast(first_.bias, format);
  const Tensor w2 = cast(second_.weight, format), b2 = cast(second_.bias, format);
  const Tensor h = relu(add_bias(matmul(cast(images, format), w1), b1));  // (B,64)
  return add_bias(matmul(h, w2), b2);                                     // (B,10)
}

Tensor rounded_beside_the_tape(const Tensor& x, DType dtype) {
  const Tensor y(x.shape(), dtype, x.device());
  kernels::cast(x.view(), y.view());
  return y;
}

}  // namespace tinymp::lab
