#include <tinymp/autograd/nonfinite_tracer.h>

#include <tests/catch.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <limits>

namespace tinymp::test {
namespace {

using Floats = std::vector<float>;
using Origin = BadTensor::Origin;

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

Tensor leaf(Shape shape, const Floats& values, DType dtype = DType::f32) {
  return Tensor::from(shape, values, dtype).set_requires_grad(true);
}

NonfiniteTracer::Name named(const Tensor& x, const std::string& name) {
  return [x, name](const Tensor& asked) { return asked.id() == x.id() ? name : std::string(); };
}

TEST_CASE("contents: the range of what is finite, and the first infinity, or else the first NaN") {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    INFO(name_of(dtype));
    const auto of = [&](const Floats& values) {
      const Tensor x = Tensor::from({static_cast<std::int64_t>(values.size())}, values, dtype);
      CHECK(all_finite(x) == contents_of(x).finite());
      return contents_of(x);
    };
    const Contents fine = of({3, -7, 0.5f});
    CHECK(fine.finite());
    CHECK(fine.low == -7);
    CHECK(fine.high == 3);
    CHECK_FALSE(fine.has_nan);

    const Contents mixed = of({nan, 2, -infinity, 5, infinity});
    CHECK(mixed.bad_at == 2);
    CHECK(mixed.bad == -infinity);
    CHECK(mixed.has_nan);
    CHECK(mixed.low == 2);
    CHECK(mixed.high == 5);

    const Contents nans = of({1, nan, nan});
    CHECK(nans.bad_at == 1);
    CHECK(std::isnan(nans.bad));
    const Contents only = of({infinity});
    CHECK(only.low == 0);
    CHECK(only.high == 0);
    CHECK_FALSE(only.has_nan);
    CHECK(of({}).finite());
  }
}

TEST_CASE("a tracer calls the cast of a named tensor by its name, and so its gradient") {
  const Tensor w = leaf({2, 2}, {300, 0, 0, 300}), x = Tensor::from({2, 2}, Floats{300, 0, 0, 1}, DType::f16);
  NonfiniteTracer tracer(named(w, "layer 4 weight"));
  {
    Tape tape(&tracer);
    matmul(x, cast(w, DType::f16));
  }
  REQUIRE(tracer.first());
  CHECK(tracer.first()->op == "matmul");
  CHECK(tracer.first()->where == "layer 4");
  CHECK(tracer.first()->inputs[1].name == "layer 4 weight");
  CHECK(tracer.first()->inputs[0].name.empty());

  const Tensor small = leaf({2, 2}, {0x1p-10f, 0, 0, 1});
  NonfiniteTracer later(named(small, "layer 4 weight"));
  {
    Tape tape(&later);
    const Tensor big = Tensor::from({2, 2}, Floats{60000, 0, 60000, 0}, DType::f16);
    tape.backward(sum(matmul(big, cast(small, DType::f16))));
  }
  REQUIRE(later.first());
  CHECK(later.first()->origin == Origin::backward);
  CHECK(later.first()->where == "layer 4 weight");
  CHECK(later.first()->dtype == DType::f16);
  CHECK(later.first_bad_gradient() == "layer 4 weight");
}

TEST_CASE("a tracer keeps the first result that is not finite, what made it, and where it stands") {
  const Tensor w = leaf({2, 2}, {300, 0, 0, 300}, DType::f16);
  NonfiniteTracer tracer(named(w, "layer 4 weight"));
  Tape tape(&tracer);
  const Tensor x = Tensor::from({1, 2}, Floats{200, -100}, DType::f16);
  const Tensor y = matmul(x, w);      // 60000, -30000
  const Tensor z = add(y, y);         // infinity, -60000
  static_cast<void>(sum(add(z, z)));  // more infinities, and their difference
  REQUIRE(tracer.first());
  const BadTensor& bad = *tracer.first();
  CHECK(bad.origin == Origin::forward);
  CHECK(bad.op == "add");
  CHECK(bad.where == "after layer 4");
  CHECK(bad.dtype == DType::f16);
  CHECK(bad.shape == Shape{1, 2});
  CHECK(bad.contents.bad == infinity);
  CHECK(bad.contents.low == -60000);
  REQUIRE(bad.inputs.size() == 2);
  CHECK(bad.inputs[0].contents.low == -30000);
  CHECK(bad.inputs[0].contents.high == 60000);
  CHECK(tracer.origins() ==
        std::vector<NonfiniteTracer::Made>{{.op = 2, .infinity = true}, {.op = 4, .nan = true}});
  CHECK(tracer.first_bad_gradient().empty());
}

TEST_CASE("an op of a named tensor stands in its layer - ops that are not recorded are watched too") {
  const Tensor w = leaf({2, 1}, {60000, 60000}, DType::f16);
  {
    NonfiniteTracer tracer(named(w, "block 3 second weight"));
    Tape tape(&tracer);
    static_cast<void>(matmul(Tensor::from({1, 2}, Floats{1, 1}, DType::f16), w));
    REQUIRE(tracer.first());
    CHECK(tracer.first()->op == "matmul");
    CHECK(tracer.first()->where == "block 3 second");
    CHECK(tracer.first()->inputs[1].name == "block 3 second weight");
    CHECK(tracer.first()->inputs[1].contents.high == 60000);
  }
  NonfiniteTracer tracer;
  Tape tape(&tracer);
  static_cast<void>(cast(Tensor::from({2}, Floats{1, -1e9f}), DType::f16));
  CHECK(tape.size() == 0);
  REQUIRE(tracer.first());
  CHECK(tracer.first()->op == "cast");
  CHECK(tracer.first()->where == "before the first layer");
  CHECK(tracer.first()->inputs[0].dtype == DType::f32);
  CHECK(tracer.first()->inputs[0].contents.low == -1e9f);
  CHECK(tracer.first()->contents.bad == -infinity);
}

TEST_CASE("what comes in infinite was made by nobody") {
  const Tensor w = leaf({2, 2}, {1, 2, 3, 4});
  NonfiniteTracer tracer(named(w, "layer 1 weight"));
  Tape tape(&tracer);
  static_cast<void>(matmul(Tensor::from({3, 2}, Floats{1, 2, 3, infinity, 5, 6}), w));
  REQUIRE(tracer.first());
  CHECK(tracer.first()->origin == Origin::input);
  CHECK(tracer.first()->op == "matmul");
  CHECK(tracer.first()->shape == Shape{3, 2});
  CHECK(tracer.first()->contents.bad_at == 3);

  const Tensor broken = leaf({2, 2}, {1, nan, 3, 4});
  NonfiniteTracer other(named(broken, "layer 1 weight"));
  Tape inner(&other);
  static_cast<void>(matmul(Tensor::from({1, 2}, Floats{1, 2}), broken));
  REQUIRE(other.first());
  CHECK(other.first()->origin == Origin::input);
  CHECK(other.first()->where == "layer 1 weight");
}

TEST_CASE("infinities that are known are no news - a NaN that is made of one is, and so is another op's") {
  const Tensor x = leaf({2}, {60000, 1}, DType::f16);
  const auto step = [&](NonfiniteTracer& tracer, bool subtract) {
    Tape tape(&tracer);
    const Tensor masked = add(x, x);            // op 1: infinity
    const Tensor minus = scale(masked, -1.0f);  // hands it on
    static_cast<void>(sum(subtract ? add(masked, minus) : minus));
    static_cast<void>(scale(x, 2.0f));  // infinity again, by an op of its own
  };
  NonfiniteTracer first;
  step(first, false);
  CHECK(first.first()->op == "add");
  CHECK(first.origins() ==
        std::vector<NonfiniteTracer::Made>{{.op = 1, .infinity = true}, {.op = 4, .infinity = true}});

  NonfiniteTracer all_known({}, first.origins());
  step(all_known, false);
  CHECK_FALSE(all_known.first());
  NonfiniteTracer one_known({}, {{.op = 1, .infinity = true}});
  step(one_known, false);
  REQUIRE(one_known.first());
  CHECK(one_known.first()->op == "scale");
  CHECK(one_known.first()->origin == Origin::forward);

  NonfiniteTracer nan_made({}, first.origins());
  step(nan_made, true);
  REQUIRE(nan_made.first());
  CHECK(nan_made.first()->op == "add");
  CHECK(nan_made.first()->contents.has_nan);
}

TEST_CASE("an infinity and a NaN of the same op are known apart") {
  const auto step = [](NonfiniteTracer& tracer, const Floats& made) {
    Tape tape(&tracer);
    const Tensor result = Tensor::from({static_cast<std::int64_t>(made.size())}, made);
    static_cast<void>(record("odd", {leaf({1}, {1})}, result, {}));
  };
  for (const Floats& before : {Floats{infinity}, Floats{nan}, Floats{infinity, nan}}) {
    NonfiniteTracer first;
    step(first, before);
    for (const Floats& later : {Floats{infinity}, Floats{nan}, Floats{infinity, nan}}) {
      NonfiniteTracer tracer({}, first.origins());
      step(tracer, later);
      const bool all_known =
          before.size() == 2 || (later.size() == 1 && std::isnan(later[0]) == std::isnan(before[0]));
      CHECK(tracer.first().has_value() != all_known);
    }
  }
}

TEST_CASE("a loss that is lost without any news is laid to what is known") {
  const auto step = [](NonfiniteTracer& tracer, bool reaches_loss) {
    Tape tape(&tracer);
    const Tensor x = leaf({2}, {60000, 1}, DType::f16);
    const Tensor masked = add(x, x);
    tape.backward(sum(reaches_loss ? masked : x));
  };
  const std::vector<NonfiniteTracer::Made> known{{.op = 1, .infinity = true}};
  NonfiniteTracer harmless({}, known);
  step(harmless, false);
  CHECK_FALSE(harmless.first());
  NonfiniteTracer lost({}, known);
  step(lost, true);
  REQUIRE(lost.first());
  CHECK(lost.first()->origin == Origin::forward);
  CHECK(lost.first()->op == "add");
}

TEST_CASE("backward: the op whose gradient is not finite, what came in, and the first parameter it reaches") {
  const Tensor w = leaf({1, 1}, {2}, DType::f16);
  NonfiniteTracer tracer(named(w, "layer 1 weight"));
  Tape tape(&tracer);
  const Tensor y = matmul(Tensor::from({1, 1}, Floats{1}, DType::f16), w);
  const Tensor z = scale(scale(y, 0x1p-10f), 0x1p10f);
  tape.backward(scale(sum(z), 1024));
  REQUIRE(tracer.first());
  CHECK(tracer.first()->origin == Origin::backward);
  CHECK(tracer.first()->op == "scale");
  CHECK(tracer.first()->where == "after layer 1");
  CHECK(tracer.first()->contents.bad == infinity);
  REQUIRE(tracer.first()->inputs.size() == 1);
  CHECK(tracer.first()->inputs[0].contents.high == 1024);
  CHECK(tracer.first_bad_gradient() == "layer 1 weight");
}

TEST_CASE("backward: a sum of gradients that overflows, and one that does not fit where it is kept") {
  const Tensor x = leaf({1}, {1}, DType::f16);
  {
    NonfiniteTracer tracer(named(x, "layer 1 weight"));
    Tape tape(&tracer);
    tape.backward(scale(sum(add(x, x)), 40000));  // each is handed 40000; the two together are too much
    REQUIRE(tracer.first());
    CHECK(tracer.first()->op == "add");
    CHECK(tracer.first()->where == "layer 1 weight");
    CHECK(tracer.first()->inputs[0].contents.high == 40000);
  }
  const Tensor wide = leaf({1}, {1});
  wide.bind_grad(Tensor({1}, DType::f16));
  NonfiniteTracer tracer(named(wide, "layer 1 weight"));
  Tape tape(&tracer);
  tape.backward(scale(sum(wide), 1e6f));
  REQUIRE(tracer.first());
  CHECK(tracer.first()->op == "cast");
  CHECK(tracer.first()->dtype == DType::f16);
  CHECK(tracer.first()->inputs[0].contents.high == 1e6);
}

TEST_CASE("batch norm shows its statistics: an infinite variance makes a finite output") {
  const Tensor gamma = leaf({1}, {1}, DType::f16), beta = leaf({1}, {0}, DType::f16);
  NonfiniteTracer tracer(named(gamma, "norm 1 gamma"));
  Tape tape(&tracer);
  const Tensor x = Tensor::from({4, 1}, Floats{-200, 200, -200, 200}, DType::f16);
  const Tensor y = batch_norm(x, gamma, beta, {.sums = {.format = DType::f16}});
  CHECK(all_finite(y));
  REQUIRE(tracer.first());
  CHECK(tracer.first()->op == "batch_norm: variance summed in f16");
  CHECK(tracer.first()->inputs[0].contents.low == -200);
}

TEST_CASE("a tape inside a watched one is not watched, and nothing is watched without") {
  NonfiniteTracer tracer;
  const Tape outer(&tracer);
  {
    const Tape inner;
    static_cast<void>(cast(Tensor::from({1}, Floats{1e9f}), DType::f16));
  }
  CHECK_FALSE(tracer.first());
  static_cast<void>(cast(Tensor::from({1}, Floats{1e9f}), DType::f16));
  CHECK(tracer.first());
}

}  // namespace
}  // namespace tinymp::test
