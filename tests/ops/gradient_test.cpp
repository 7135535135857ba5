#include <tests/catch.h>
#include <tests/ops/gradients.h>
#include <tinymp/autograd/finite_differences.h>

/// Backward of every op against finite differences in f64, and against its own f64 gradient in narrower
/// formats.
namespace tinymp::test {
namespace {

TEST_CASE("every op: the tape's gradients are those of finite differences") {
  for (const OpCase& op : op_cases()) {
    for (const std::vector<Shape>& shapes : op.shapes) {
      const std::vector<Tensor> inputs = leaves(op, shapes, DType::f64);
      if (cast(inputs[0], DType::f64).id() == op.call(inputs).id())
        continue;  // nothing was computed: cast to itself
      const GradientCheckOptions options{.step = op.step, .entries = inputs[0].size() > 1000 ? 20 : 400};
      const GradientReport report = check_gradients([&] { return op.call(inputs); }, inputs, options);
      INFO(op.name << inputs[0].shape() << ": " << report);
      CHECK(report.error < 1e-6);
      if (inputs[0].size() > 0) CHECK(report.checked > 0);
    }
  }
}

void check_narrow_gradients(DType dtype, double tolerance) {
  for (const OpCase& op : op_cases()) {
    for (const std::vector<Shape>& shapes : op.shapes) {
      const std::vector<Tensor> narrow = leaves(op, shapes, dtype);
      std::vector<Tensor> wide;
      for (const Tensor& x : narrow) wide.push_back(cast(x, DType::f64));
      for (const Tensor& x : wide) x.set_requires_grad(true);
      if (op.call(narrow).id() == narrow[0].id() || op.call(wide).id() == wide[0].id()) continue;
      const std::vector<Tensor> got = gradients(op, narrow), expected = gradients(op, wide);
      for (std::size_t i = 0; i < got.size(); ++i) {
        INFO(op.name << " of " << dtype << narrow[0].shape() << ", gradient of input " << i);
        REQUIRE(got[i].dtype() == dtype);
        REQUIRE(got[i].shape() == narrow[i].shape());
        const std::vector<double> g = got[i].to_doubles(), e = expected[i].to_doubles();
        double worst = 0;
        for (std::size_t j = 0; j < g.size(); ++j) {
          const double error = std::fabs(g[j] - e[j]) / std::max(1.0, std::fabs(e[j]));
          if (!(error <= worst)) worst = error;
        }
        CHECK(worst <= tolerance);
      }
    }
  }
}

// A matmul of the entries adds up to 390 products below 4, and FP32 loses up to 2^-24 of each partial sum.
TEST_CASE("every op in f32: gradients are those of f64, but for FP32 rounding") {
  check_narrow_gradients(DType::f32, 5e-5);
}
// y is stored in f16 and backward starts from it, so an op that divides its error up may show a few units.
TEST_CASE("every op in f16: gradients are f16, and those of f64 but for FP16 rounding") {
  check_narrow_gradients(DType::f16, 4 * 0x1p-11);
}

TEST_CASE("every op in bf16: gradients are bf16, and those of f64 but for the rounding of bf16") {
  check_narrow_gradients(DType::bf16, 4 * 0x1p-8);
}

TEST_CASE("gradients of an f16 op are rounded once, as they are stored") {
  // 0.1 as FP32 does not fit f16: mean hands dloss/4 = 0.25 on, mse 2 (x - target) / 4.
  const Tensor x =
      Tensor::from({4}, std::vector<float>{0.5f, 1, 1.5f, 2}, DType::f16).set_requires_grad(true);
  const Tensor target = Tensor::from({4}, std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f});
  Tape tape;
  tape.backward(mse(x, target));
  const std::vector<float> t = target.to_floats();
  for (std::size_t i = 0; i < 4; ++i) {
    const float exact = 2 * (static_cast<float>(i + 1) / 2 - t[i]) / 4;
    CHECK(x.grad().data<half>()[i].bits() == half(exact).bits());
  }
}

TEST_CASE("cast hands the gradient back in the format of its input: small ones vanish there") {
  const Tensor x = Tensor::from({3}, std::vector<float>{1, 2, 3}, DType::f16).set_requires_grad(true);
  Tape tape;
  const Tensor wide = cast(x, DType::f32);
  const Tensor dy = Tensor::from({3}, std::vector<float>{0x1p-26f, 0x1p-24f, 1.00048828125f + 0x1p-20f});
  tape.backward(record("upstream", {wide}, Tensor::from(Shape{}, std::vector<float>{0}),
                       [dy](const Tensor&, const Needs&) { return std::vector{dy}; }));
  CHECK(x.grad().dtype() == DType::f16);
  CHECK(x.grad().to_floats() == std::vector<float>{0, 0x1p-24f, 1.0009765625f});
}

TEST_CASE("cast to the format it has is the tensor itself, and records nothing") {
  const Tensor x = Tensor::from({3}, std::vector<float>{1, 2, 3}).set_requires_grad(true);
  Tape tape;
  CHECK(cast(x, DType::f32).id() == x.id());
  CHECK(tape.size() == 0);
}

TEST_CASE("relu, sigmoid and tanh hand NaN and infinite gradients on") {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const auto gradient = [&](Tensor (*op)(const Tensor&), float at, float dy) {
      const Tensor x = Tensor::from({1}, std::vector<float>{at}, dtype).set_requires_grad(true);
      Tape tape;
      const Tensor y = op(x), g = Tensor::from({1}, std::vector<float>{dy}, dtype);
      tape.backward(record("upstream", {y}, Tensor::from(Shape{}, std::vector<float>{0}),
                           [g](const Tensor&, const Needs&) { return std::vector{g}; }));
      return x.grad().item();
    };
    INFO(dtype);
    CHECK(std::isnan(gradient(relu, 2, nan)));
    CHECK(gradient(relu, 2, infinity) == static_cast<double>(infinity));
    CHECK(gradient(relu, -2, nan) == 0);  // the value did not take part
    CHECK(gradient(relu, 0, 1) == 0);
    CHECK(gradient(relu, nan, 3) == 3);
    CHECK(std::isnan(gradient(sigmoid, 0.5f, nan)));
    CHECK(std::isnan(gradient(sigmoid, nan, 1)));
    CHECK(std::isnan(gradient(tanh, 0.5f, nan)));
    CHECK(gradient(tanh, 0.5f, -infinity) == -static_cast<double>(infinity));
  }
}

TEST_CASE("a gradient of mse is finite wherever it is one, up to the largest loss scale") {
  const Tensor x = Tensor::from({2}, std::vector<float>{1, 0.5f}).set_requires_grad(true);
  const Tensor target = Tensor::from({2}, std::vector<float>{0.75f, 0.5f});
  Tape tape;
  tape.backward(scale(mse(x, target), 0x1p127f));  // 2 x 2^127 is no float, 2 x 2^127 x 0.25 / 2 is
  CHECK(x.grad().to_floats() == std::vector<float>{0x1p125f, 0});
}

TEST_CASE("losses and sums with a NaN or an infinity in them are not finite, nor are their gradients") {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const std::vector<std::int32_t> labels{1, 0};
  const Tensor target = Tensor::from({2, 3}, std::vector<float>(6, 0.0f));
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const float bad : {nan, infinity, -infinity}) {
      for (std::size_t place : {0u, 1u, 5u}) {
        std::vector<float> values{1, 2, 3, 4, 5, 6};
        values[place] = bad;
        const Tensor x = Tensor::from({2, 3}, values, dtype).set_requires_grad(true);
        INFO(dtype << ", " << bad << " at " << place);
        CHECK_FALSE(std::isfinite(sum(x).item()));
        CHECK_FALSE(std::isfinite(mean(x).item()));
        CHECK_FALSE(std::isfinite(mse(x, target).item()));
        Tape tape;
        const Tensor loss = cross_entropy(x, labels);
        const bool unlikely =
            bad == -infinity && place != 1;             // a logit of -inf is a class that is never meant,
        CHECK(std::isfinite(loss.item()) == unlikely);  // and right unless it is the label's
        tape.backward(loss);
        bool finite = true;
        for (const float g : x.grad().to_floats()) finite = finite && std::isfinite(g);
        if (bad != -infinity) CHECK_FALSE(finite);
      }
    }
  }
}

}  // namespace
}  // namespace tinymp::test
