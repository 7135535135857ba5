#include <tests/cuda/device.h>
#include <tests/kernels/rig.h>
#include <tests/ops/check_cross_entropy.h>
#include <tests/ops/check_forward.h>
#include <tests/ops/gradients.h>
#include <tinymp/nn/layers.h>
#include <tuple>

/// Every op on Device::cuda, from the same table as on the CPU: forward against the float64 oracle, forward
/// and backward against the CPU.
namespace tinymp::test {
namespace {

/// A tensor core cuts off where FP32 rounds: up to four times the error.
constexpr long double tensor_core_error = 4;

bool same_as_cpu(const OpCase& op) {
  return adds_as_cpu() || !(op.name.starts_with("matmul") || op.name.starts_with("conv2d") ||
                            op.name.starts_with("attention"));
}

void check_forward_there(DType dtype) {
  for (const OpCase& op : op_cases()) {
    for (const std::vector<Shape>& shapes : op.shapes) {
      check_forward(op, shapes, dtype, Device::cuda, same_as_cpu(op) ? 1 : tensor_core_error);
      if (!same_as_cpu(op)) continue;
      INFO(op.name << " of " << dtype << shapes[0]);
      CHECK(bits_equal(op.call(inputs_of(op, shapes, dtype)),
                       op.call(inputs_of(op, shapes, dtype, Device::cuda))));
    }
  }
}

TEST_CASE("every op in f32 is within its bound of exact arithmetic, and has the bits of the CPU") {
  NEEDS_CUDA();
  check_forward_there(DType::f32);
}
TEST_CASE("every op in f16 is within its bound of exact arithmetic, and has the bits of the CPU") {
  NEEDS_CUDA();
  check_forward_there(DType::f16);
}
TEST_CASE("every op in bf16 is within its bound of exact arithmetic, and has the bits of the CPU") {
  NEEDS_CUDA();
  check_forward_there(DType::bf16);
}
TEST_CASE("every op in f64 is within its bound of exact arithmetic, and has the bits of the CPU") {
  NEEDS_CUDA();
  check_forward_there(DType::f64);
}

TEST_CASE("cross_entropy: loss and gradient are right to 1e-6, whatever the logits are shifted by") {
  NEEDS_CUDA();
  check_cross_entropy(Device::cuda);
}

double largest_error(const Tensor& got, const Tensor& expected) {
  const std::vector<double> g = got.to_doubles(), e = expected.to_doubles();
  double worst = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double error = std::fabs(g[i] - e[i]) / std::max(1.0, std::fabs(e[i]));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

void check_gradients_there(DType dtype, double tolerance) {
  for (const OpCase& op : op_cases()) {
    for (const std::vector<Shape>& shapes : op.shapes) {
      const std::vector<Tensor> here = leaves(op, shapes, dtype),
                                there = leaves(op, shapes, dtype, Device::cuda);
      if (op.call(here).id() == here[0].id()) continue;  // cast to itself
      const std::vector<Tensor> expected = gradients(op, here), got = gradients(op, there);
      for (std::size_t i = 0; i < got.size(); ++i) {
        INFO(op.name << " of " << dtype << shapes[0] << ", gradient of input " << i);
        REQUIRE(got[i].device() == Device::cuda);
        if (same_as_cpu(op)) {
          CHECK(bits_equal(got[i], expected[i]));
        } else {
          CHECK(largest_error(got[i], expected[i]) <= tolerance);
        }
      }
    }
  }
}

TEST_CASE("every op in f32: gradients have the bits of the CPU") {
  NEEDS_CUDA();
  check_gradients_there(DType::f32, 5e-5);
}
TEST_CASE("every op in f16: gradients have the bits of the CPU") {
  NEEDS_CUDA();
  check_gradients_there(DType::f16, 4 * 0x1p-11);
}
TEST_CASE("every op in bf16: gradients have the bits of the CPU") {
  NEEDS_CUDA();
  check_gradients_there(DType::bf16, 4 * 0x1p-8);
}
TEST_CASE("every op in f64: gradients have the bits of the CPU") {
  NEEDS_CUDA();
  check_gradients_there(DType::f64, 1e-12);
}

TEST_CASE("FP16 sums in a matmul: within their bound, and of BF16 products refused") {
  NEEDS_CUDA();
  const Tensor x = drawn({33, 100}, DType::f16, 1, 1), w = drawn({100, 20}, DType::f16, 2, 1);
  const MatmulOptions half_sums{.accumulate = DType::f16};
  const Tensor here = matmul(x, w, half_sums),
               there = matmul(x.to(Device::cuda), w.to(Device::cuda), half_sums);
  CHECK(largest_error(there, here) <= 100 * 0x1p-11);
  const Tensor bx = cast(x, DType::bf16).to(Device::cuda), bw = cast(w, DType::bf16).to(Device::cuda);
  CHECK_THROWS_AS(matmul(bx, bw, half_sums), Error);
}

TEST_CASE("special values pass through as on the CPU") {
  NEEDS_CUDA();
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor x = from({infinity, -infinity, nan, 0.0, -0.0, 1e-7, -1e-7, 65504, 70000, 1e30}, dtype);
    for (Tensor (*op)(const Tensor&) : {relu, sigmoid, tanh, sum, exp, log, gelu}) {
      INFO(dtype);
      CHECK(bits_equal(op(x), op(x.to(Device::cuda))));
    }
    for (const DType to : {DType::f16, DType::bf16, DType::f32, DType::f64})
      CHECK(bits_equal(cast(x, to), cast(x.to(Device::cuda), to)));
  }
}

TEST_CASE("layer_norm with sums in FP16 has the bits of the CPU") {
  NEEDS_CUDA();
  for (const Accumulation& how :
       {Accumulation{.format = DType::f16}, Accumulation{.format = DType::f16, .chunk = 64}}) {
    for (const DType dtype : {DType::f16, DType::f32}) {
      std::vector<Tensor> found[2];
      for (const Device device : {Device::cpu, Device::cuda}) {
        const auto leaf = [&](const Shape& shape, std::uint64_t seed) {
          return drawn(shape, dtype, seed).to(device).viewed_as(shape).set_requires_grad(true);
        };
        const Tensor x = leaf({37, 300}, 31), gamma = leaf({300}, 32), beta = leaf({300}, 33);
        const Tensor target = drawn({37, 300}, DType::f32, 34).to(device);
        Tape tape;
        const Tensor y = layer_norm(x, gamma, beta, {.sums = how});
        tape.backward(mse(y, target));
        for (const Tensor& t : {y, x.grad(), gamma.grad(), beta.grad()})
          found[device == Device::cuda].push_back(t.to(Device::cpu));
      }
      for (std::size_t i = 0; i < found[0].size(); ++i) {
        INFO(dtype << ", chunk " << how.chunk << ", result " << i);
        CHECK(bits_equal(found[1][i], found[0][i]));
      }
    }
  }
}

TEST_CASE("Dropout counts its steps where x lies, and drops what it drops on the CPU, backward too") {
  NEEDS_CUDA();
  const nn::Dropout here(0.4f, 3), there(0.4f, 3);
  for (int step = 0; step < 3; ++step) {
    std::vector<Tensor> found[2];
    for (const Device device : {Device::cpu, Device::cuda}) {
      const Tensor x = drawn({5000}, DType::f16, 41).to(device).viewed_as({5000}).set_requires_grad(true);
      const nn::Dropout& layer = device == Device::cuda ? there : here;
      Tape tape;
      const Tensor y = layer(x);
      tape.backward(sum(y));
      CHECK(layer.step.device() == device);
      CHECK(layer.step.item() == step + 1);
      found[device == Device::cuda] = {y.to(Device::cpu), x.grad().to(Device::cpu)};
    }
    for (std::size_t i = 0; i < 2; ++i) CHECK(bits_equal(found[1][i], found[0][i]));
  }
}

TEST_CASE("rows with infinities and NaN have the bits of the CPU") {
  NEEDS_CUDA();
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor x = from({1, nan, 2, nan, infinity, 3, infinity, -1, -infinity, -infinity, -infinity,
                           -infinity, 70000, -70000, 5, 70000},
                          dtype)
                         .viewed_as({4, 4});
    for (Tensor (*op)(const Tensor&) : {softmax, log_softmax, row_max}) {
      std::vector<Tensor> found[2];
      for (const Device device : {Device::cpu, Device::cuda}) {
        const Tensor leaf = x.to(device).viewed_as({4, 4}).set_requires_grad(true);
        Tape tape;
        const Tensor y = op(leaf);
        tape.backward(sum(y));
        found[device == Device::cuda] = {y.to(Device::cpu), leaf.grad().to(Device::cpu)};
      }
      INFO(dtype);
      CHECK(bits_equal(found[1][0], found[0][0]));
      CHECK(bits_equal(found[1][1], found[0][1]));
    }
  }
}

TEST_CASE("sums over more than 4096 rows have the bits of the CPU") {
  NEEDS_CUDA();
  for (const DType dtype : {DType::f32, DType::f16}) {
    for (const Accumulation& how : {Accumulation{}, Accumulation{.format = DType::f16}}) {
      std::vector<Tensor> found[2];
      for (const Device device : {Device::cpu, Device::cuda}) {
        const auto there = [&](const Tensor& t) { return t.to(device); };
        const Tensor x = there(drawn({9001, 3}, dtype, 21)), dy = there(drawn({9001, 3}, dtype, 22));
        std::vector<Tensor> columns;
        for (int i = 0; i < 5; ++i) columns.emplace_back(Shape{3}, DType::f32, device);
        const auto& [sums, mean, variance, dgamma, dbeta] =
            std::tie(columns[0], columns[1], columns[2], columns[3], columns[4]);
        kernels::column_sums(x.view(), sums.view());
        kernels::column_moments(x.view(), how, mean.view(), variance.view());
        kernels::batch_norm_sums(x.view(), {mean.view(), variance.view(), 1e-5}, dy.view(), how,
                                 dgamma.view(), dbeta.view());
        for (const Tensor& t : columns) found[device == Device::cuda].push_back(t.to(Device::cpu));
      }
      for (std::size_t i = 0; i < found[0].size(); ++i) {
        INFO(dtype << ", sums in " << how.format << ", result " << i);
        CHECK(bits_equal(found[1][i], found[0][i]));
      }
    }
  }
}

}  // namespace
}  // namespace tinymp::test
