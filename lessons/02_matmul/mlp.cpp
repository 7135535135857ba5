#include <lessons/02_matmul/mlp.h>
#include <tinymp/numeric/half.h>

namespace tinymp::lab {

using kernels::Trans;

void multiply(Kernel kernel, const Tensor& a, Trans ta, const Tensor& b, Trans tb, const Tensor& c) {
  const auto size = [](const Tensor& x, int d) { return static_cast<int>(x.shape()[d]); };
  kernel({.M = size(c, 0),
          .N = size(c, 1),
          .K = size(a, ta == Trans::no ? 1 : 0),
          .a = a.data<half>(),
          .b = b.data<half>(),
          .c = c.data<half>(),
          .lda = size(a, 1),
          .ldb = size(b, 1),
          .ldc = size(c, 1),
          .ta = ta,
          .tb = tb,
          .format = kernels::Format::f16},
         nullptr);
}

//   y = x . w          (B,O) = (B,I)(I,O)
//  dx = dy . w^T       (B,I) = (B,O)(O,I)
//  dw = x^T . dy       (I,O) = (I,B)(B,O)
Tensor matmul_by(Kernel kernel, const Tensor& x, const Tensor& w) {
  Tensor y({x.shape()[0], w.shape()[1]}, DType::f16);
  multiply(kernel, x, Trans::no, w, Trans::no, y);
  return record("matmul", {x, w}, y, [kernel, x, w](const Tensor& dy, const Needs& needs) {
    std::vector<Tensor> grads(2);
    if (needs(0)) {
      grads[0] = Tensor(x.shape(), DType::f16);
      multiply(kernel, dy, Trans::no, w, Trans::yes, grads[0]);
    }
    if (needs(1)) {
      grads[1] = Tensor(w.shape(), DType::f16);
      multiply(kernel, x, Trans::yes, dy, Trans::no, grads[1]);
    }
    return grads;
  });
}

Tensor EmulatedMlp::operator()(const Tensor& images) const {
  const Tensor x = cast(images, DType::f16);
  const Tensor h = relu(add_bias(matmul_by(kernel_, x, hidden_.weight), hidden_.bias));
  return add_bias(matmul_by(kernel_, h, out_.weight), out_.bias);
}

}  // namespace tinymp::lab
