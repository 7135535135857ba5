#include <tests/base/child.h>
#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <tinymp/base/isa.h>
#include <tinymp/tensor/device_value.h>
#include <bit>
#include <limits>
#include <utility>

/// Every loop gives the same bits under each instruction set: run in a process for each, boiled down to a
/// number each.
namespace tinymp::test {
namespace {

constexpr DType formats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

/// FNV-1a over the values, all NaNs one.
class Bits {
 public:
  void add(double x) {
    const auto bits = x == x ? std::bit_cast<std::uint64_t>(x) : 0x7ff8'0000'0000'0000;
    for (int i = 0; i < 8; ++i) value_ = (value_ ^ ((bits >> (8 * i)) & 0xff)) * 0x100000001b3;
  }
  void add(const Tensor& x) {
    for (const double v : x.to_doubles()) add(v);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

/// Ordinary numbers, and among them all that is not: the lengths leave a rest in any register.
Tensor mixed(Shape shape, DType dtype, std::uint64_t seed, float spread = 4) {
  const double strange[] = {0.0,  -0.0,    1e-7,     -6e-8,  1e-40,
                            1e30, 65519.0, -1e-3,    3000.0, std::numeric_limits<double>::infinity(),
                            NAN,  -NAN,    -INFINITY};
  std::vector<double> values = drawn(shape, DType::f64, seed, spread).to_doubles();
  for (std::size_t i = 5; i < values.size(); i += 37) values[i] = strange[i / 37 % std::size(strange)];
  const std::vector<float> narrow(values.begin(), values.end());
  return dtype == DType::f64 ? Tensor::from(shape, std::span<const double>(values))
                             : Tensor::from(shape, narrow, dtype);
}

DType wide_of(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

void elementwise(DType dtype, Bits& bits) {
  using namespace kernels;
  for (const Shape& shape : {Shape{37, 501}, Shape{300, 10}, Shape{3, 2500}}) {
    const Tensor x = mixed(shape, dtype, 1), z = mixed(shape, dtype, 2), b = mixed({shape[1]}, dtype, 3);
    const Tensor y(shape, dtype);
    for (const Unary f : {Unary::relu, Unary::sigmoid, Unary::tanh, Unary::exp, Unary::log}) {
      unary(f, x.view(), y.view());
      bits.add(y);
      unary_backward(f, x.view(), z.view(), y.view());
      bits.add(y);
    }
    add(x.view(), z.view(), y.view());
    accumulate(x.view(), y.view());
    subtract(y.view(), z.view(), y.view());
    scale(y.view(), 0.3, y.view());
    bits.add(y);
    add_bias(x.view(), b.view(), y.view());
    bits.add(y);
    for (const DType to : formats) {
      const Tensor other(shape, to);
      cast(x.view(), other.view());
      bits.add(other);
    }
  }
}

void sums(DType dtype, Bits& bits) {
  using namespace kernels;
  for (const Shape& shape : {Shape{1037, 21}, Shape{5000, 3}, Shape{40, 300}}) {
    const Tensor x = drawn(shape, dtype, 4), target = drawn(shape, wide_of(dtype), 5), dx(shape, dtype);
    const Tensor one = from({1}, wide_of(dtype)), scalar(Shape{}, wide_of(dtype));
    const Tensor columns({shape[1]}, wide_of(dtype)), rows({shape[0]}, wide_of(dtype)),
        tops({shape[0]}, wide_of(dtype));
    std::vector<std::int32_t> labels;
    for (std::int64_t b = 0; b < shape[0]; ++b) labels.push_back(static_cast<std::int32_t>(b % shape[1]));
    sum(x.view(), 3, scalar.view());
    bits.add(scalar);
    mse(x.view(), target.view(), scalar.view());
    bits.add(scalar);
    mse_backward(x.view(), target.view(), one.view(), dx.view());
    bits.add(dx);
    column_sums(x.view(), columns.view());
    bits.add(columns);
    cross_entropy(x.view(), labels, tops.view(), rows.view(), scalar.view());
    bits.add(rows);
    bits.add(scalar);
    cross_entropy_backward(x.view(), labels, tops.view(), rows.view(), one.view(), dx.view());
    bits.add(dx);
  }
}

void rows(DType dtype, Bits& bits) {
  using namespace kernels;
  for (const Shape& shape : {Shape{300, 10}, Shape{4, 2500}}) {
    const Tensor x = mixed(shape, dtype, 15), z = drawn(shape, dtype, 16), by = drawn({shape[0]}, dtype, 17);
    const Tensor y(shape, dtype), of_rows({shape[0]}, dtype);
    row_sums(z.view(), {}, of_rows.view());
    bits.add(of_rows);
    row_max(x.view(), of_rows.view());
    bits.add(of_rows);
    divide_rows_dby(z.view(), by.view(), z.view(), of_rows.view());
    bits.add(of_rows);
    subtract_rows(x.view(), by.view(), y.view());
    bits.add(y);
    divide_rows(x.view(), by.view(), y.view());
    bits.add(y);
    dropout(x.view(), 0.3f, 5, from({7}, DType::f64).viewed_as(Shape{}).view(), y.view());
    bits.add(y);
    const Tensor gamma = drawn({shape[1]}, dtype, 18), mean({shape[0]}, wide_of(dtype)),
                 variance({shape[0]}, wide_of(dtype)), dgamma({shape[1]}, wide_of(dtype)),
                 dbeta({shape[1]}, wide_of(dtype));
    const Normalizer normalizer{mean.view(), variance.view(), 1e-5};
    row_moments(z.view(), {}, mean.view(), variance.view());
    layer_norm(z.view(), normalizer, gamma.view(), gamma.view(), y.view());
    bits.add(y);
    layer_norm_dx(z.view(), normalizer, gamma.view(), z.view(), {}, y.view());
    layer_norm_sums(z.view(), normalizer, z.view(), {}, dgamma.view(), dbeta.view());
    for (const Tensor& t : {mean, variance, y, dgamma, dbeta}) bits.add(t);
    for (const Tensor& t : {x, z}) {
      softmax(t.view(), y.view());
      bits.add(y);
      softmax_backward(y.view(), z.view(), y.view());
      bits.add(y);
      log_softmax(t.view(), y.view());
      bits.add(y);
      log_softmax_backward(y.view(), z.view(), y.view());
      bits.add(y);
    }
  }
}

void batch_norm(DType dtype, Bits& bits) {
  using namespace kernels;
  for (const Accumulation& how : {Accumulation{}, Accumulation{.format = DType::f16},
                                  Accumulation{.format = DType::f32, .chunk = 50}}) {
    for (const Shape& shape : {Shape{4200, 16}, Shape{300, 67}, Shape{20, 1100}}) {
      const Tensor x = drawn(shape, dtype, 6), dy = drawn(shape, dtype, 7), y(shape, dtype);
      const Tensor gamma = drawn({shape[1]}, dtype, 8), beta = drawn({shape[1]}, dtype, 9);
      const auto columns = [&] { return Tensor({shape[1]}, wide_of(dtype)); };
      const Tensor mean = columns(), variance = columns(), dgamma = columns(), dbeta = columns();
      const Normalizer by{mean.view(), variance.view(), 1e-5};
      column_moments(x.view(), how, mean.view(), variance.view());
      kernels::batch_norm(x.view(), by, gamma.view(), beta.view(), y.view());
      bits.add(y);
      batch_norm_sums(x.view(), by, dy.view(), how, dgamma.view(), dbeta.view());
      batch_norm_dx(x.view(), by, gamma.view(), dy.view(), dgamma.view(), dbeta.view(), y.view());
      for (const Tensor& t : {mean, variance, dgamma, dbeta, y}) bits.add(t);
    }
  }
}

/// Convolution with what follows it, its gradients, pools.
void images(DType dtype, Bits& bits) {
  using namespace kernels;
  for (const std::int64_t channels : {3, 16, 33}) {
    const Window window{3, 3, 2, 1}, pool{2, 2, 2, 0};
    const Tensor x = drawn({9, 8, 7, channels}, dtype, 21), w = drawn({3, 3, channels, 20}, dtype, 22);
    const Tensor bias = drawn({20}, dtype, 23), y({9, 4, 4, 20}, dtype), dx(x.shape(), dtype),
                 dw(w.shape(), dtype);
    const Tensor pooled({9, 4, 3, channels}, dtype);
    for (const DType sums : {DType::f32, DType::f16}) {
      conv2d(x.view(), w.view(), window, y.view(), sums, {bias.view(), Unary::tanh});
      conv2d_dx(y.view(), w.view(), window, dx.view(), sums, {});
      conv2d_dw(x.view(), y.view(), window, dw.view(), sums, {});
      for (const Tensor& t : {y, dx, dw}) bits.add(t);
    }
    max_pool2d(x.view(), pool, pooled.view());
    bits.add(pooled);
    max_pool2d_backward(x.view(), pooled.view(), pool, dx.view());
    bits.add(dx);
    avg_pool2d(x.view(), pool, pooled.view());
    avg_pool2d_backward(pooled.view(), pool, dx.view());
    for (const Tensor& t : {pooled, dx}) bits.add(t);
  }
}

/// `dtype` is that of the gradients, the weights, the moments and, but for a last round, the master.
void step(DType dtype, Bits& bits) {
  using namespace kernels;
  if (dtype == DType::f64) return;
  const UpdateRule rules[] = {SgdRule<false>{0, 0.1f}, SgdRule<true>{0.9f, 0.1f},
                              adam_rule<false>(0.9, 0.999, 1e-8f, 0.1f),
                              adam_rule<true>(0.9, 0.999, 1e-8f, 0.1f), AdagradRule{1e-10f, 0.1f}};
  for (const DType of_master : {dtype, DType::f32}) {
    for (const UpdateRule& rule : rules) {
      const Tensor w = drawn({3001}, dtype, 10), g = mixed({3001}, dtype, 11, 1e-3f);
      const Tensor m = drawn({3001}, of_master, 12), m0 = drawn({3001}, dtype, 13, 1e-2f);
      const Tensor m1 = drawn({3001}, dtype, 14, 1e-3f), norm(Shape{}, DType::f32);
      kernels::unary(Unary::relu, m1.view(), m1.view());  // Adam's second moment has a root
      const DeviceValue<ScaleState> scale(Device::cpu, {.scale = 8});
      const DeviceValue<GradientCounts> found(Device::cpu, {});
      const DeviceValue<float> factor(Device::cpu, 1);
      const DeviceValue<StepState> state(Device::cpu, {.steps = 3, .lr = 0.01f});
      const DeviceValue<StepOutcome> report(Device::cpu, {});
      const DeviceValue<PassCounts> counts(Device::cpu, PassCounts());
      const DeviceValue<FlushCounts> flushed(Device::cpu, {});
      unscale(g.view(), scale.cell(), found.cell(), factor.cell());
      clip(w.view(), 1, factor.cell(), norm.view());
      take_step(rule, {w.view(), m.view(), g.view(), {m0.view(), m1.view()}}, factor.cell(), found.cell(),
                false, state.cell(), report.cell(), counts.cell());
      count_flushed(g.view(), m.view(), flushed.cell());
      for (const Tensor& t : {w, m, m0, m1, norm}) bits.add(t);
      const GradientCounts scan = found.read();
      const UpdateCounts lost = report.read().updates;
      for (const std::int64_t count : {scan.nonfinite, scan.zeros, scan.subnormals, lost.values,
                                       lost.underflowed, lost.absorbed, flushed.read().flushed})
        bits.add(static_cast<double>(count));
    }
  }
}

using Family = void (*)(DType, Bits&);
const std::vector<std::pair<std::string, Family>> families{{"element-wise", elementwise},
                                                           {"sums and losses", sums},
                                                           {"rows", rows},
                                                           {"batch norm", batch_norm},
                                                           {"step", step},
                                                           {"images", images}};

TEST_CASE("the loops of the instruction set in use") {
  for (const auto& [name, run] : families) {
    for (const DType dtype : formats) {
      Bits bits;
      run(dtype, bits);
      std::printf("%s in %s: %016llx\n", name.c_str(), std::string(name_of(dtype)).c_str(),
                  static_cast<unsigned long long>(bits.value()));
    }
  }
  std::printf("instruction set: %d\n", static_cast<int>(isa()));
}

void check_isa(const std::string& set, const std::string& number) {
  const std::string test = "the loops of the instruction set in use";
  const std::optional<ChildResult> portable = run_again("TINYMP_ISA=portable", test);
  if (!portable) SKIP_TEST("this system does not say where the running program lies");
  CHECK(portable->line("instruction set: ") == "0");
  const ChildResult other = *run_again("TINYMP_ISA=" + set, test);
  if (other.output.find("which this processor cannot run") != std::string::npos)
    SKIP_TEST("this processor does not have that instruction set");
  CHECK(other.line("instruction set: ") == number);
  for (const auto& [family, run] : families) {
    for (const DType dtype : formats) {
      const std::string label = family + " in " + std::string(name_of(dtype)) + ": ";
      INFO(label);
      CHECK(other.line(label) != "(none)");
      CHECK(other.line(label) == portable->line(label));
    }
  }
}

TEST_CASE("TINYMP_ISA=avx2: the loops give the portable bits") { check_isa("avx2", "1"); }
TEST_CASE("TINYMP_ISA=avx512: the loops give the portable bits") { check_isa("avx512", "2"); }

}  // namespace
}  // namespace tinymp::test
