#include <tinymp/numeric/convert.h>
#include <tinymp/tensor/tensor.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <cmath>
#include <limits>

namespace tinymp::test {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

/// 0, 1, ..., n-1
Tensor counting(std::int64_t n, DType dtype = DType::f32) {
  Floats values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i));
  return Tensor::from({n}, values, dtype);
}

TEST_CASE("from() rounds each value to the format - to_floats and to_doubles give it back") {
  const Floats values{0, -0.0f, 1, 0.1f, 65520, -70000, 0x1p-25f, 0x1.8p-25f};
  const Tensor f = Tensor::from({2, 4}, values);
  CHECK(f.dtype() == DType::f32);
  CHECK(f.shape() == Shape{2, 4});
  CHECK(f.size() == 8);
  CHECK(f.device() == Device::cpu);
  CHECK(f.to_floats() == values);
  CHECK(std::signbit(f.to_floats()[1]));

  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor h = Tensor::from({8}, values, DType::f16);
  CHECK(h.to_floats() == Floats{0, 0, 1, 0.0999755859375f, infinity, -infinity, 0, 0x1p-24f});
  CHECK(h.data<half>()[1].bits() == 0x8000);
  CHECK(h.to_doubles()[3] == 0.0999755859375);

  const Doubles fine{0.1, 1e300, 0x1p-1074};
  const Tensor d = Tensor::from({3}, std::span<const double>(fine));
  CHECK(d.dtype() == DType::f64);
  CHECK(d.to_doubles() == fine);
  CHECK(d.to_floats() == Floats{0.1f, infinity, 0});
}

TEST_CASE("from() wants as many values as the shape has") {
  const Floats three{1, 2, 3};
  CHECK_SAYS("Tensor::from: 3 values for a tensor of shape (2, 2)", Tensor::from({2, 2}, three));
  CHECK_SAYS("Tensor::from: 3 values for a tensor of shape ()", Tensor::from({}, three, DType::f16));
  const Doubles two{1, 2};
  CHECK_SAYS("Tensor::from: 2 values for a tensor of shape (3)",
             Tensor::from({3}, std::span<const double>(two)));
  CHECK(Tensor::from({0, 4}, Floats{}).to_floats().empty());
}

TEST_CASE("data<T>() wants the format that the tensor has") {
  const Tensor h({2}, DType::f16);
  CHECK_SAYS("data<f32>() of a tensor of f16", h.data<float>());
  CHECK_SAYS("data<f64>() of a tensor of f16", h.data<double>());
  CHECK(h.data<half>() != nullptr);
}

TEST_CASE("item() is the value of a tensor of one value") {
  CHECK(Tensor::from({}, Floats{3}).item() == 3);
  CHECK(Tensor::from({1, 1}, Floats{0.1f}, DType::f16).item() == 0.0999755859375);
  CHECK_SAYS("item() needs a tensor of one value, this one has shape (2)",
             Tensor::from({2}, Floats{1, 2}).item());
  CHECK_SAYS("item() needs a tensor of one value, this one has shape (0)", Tensor(Shape{0}).item());
}

TEST_CASE("copies are handles on the same values - no tensor at all is false") {
  const Tensor none;
  CHECK_FALSE(static_cast<bool>(none));
  CHECK_SAYS("this tensor is empty; a gradient is, until backward() has run", none.to_floats());
  CHECK_SAYS("this tensor is empty", Tensor::from({1}, Floats{1}).grad().shape());
  const Tensor a = Tensor::from({2}, Floats{1, 2});
  const Tensor b = a;
  CHECK(b.id() == a.id());
  b.data<float>()[0] = 7;
  CHECK(a.to_floats() == Floats{7, 2});
  CHECK(Tensor::from({2}, Floats{1, 2}).id() != a.id());
}

TEST_CASE("memory starts on a multiple of 64 bytes") {
  for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
    for (const std::int64_t n : {0, 1, 3, 1000}) {
      const Tensor t({n}, dtype);
      CHECK(reinterpret_cast<std::uintptr_t>(t.view().memory) % 64 == 0);
    }
  }
}

TEST_CASE("a view shows memory, format and shape") {
  const Tensor t = Tensor::from({2, 3}, Floats{1, 2, 3, 4, 5, 6}, DType::f16);
  const View v = t.view();
  CHECK(v.dtype == DType::f16);
  CHECK(v.device == Device::cpu);
  CHECK(v.shape == Shape{2, 3});
  CHECK(v.size() == 6);
  CHECK(v.rows() == 2);
  CHECK(v.cols() == 3);
  CHECK(v.data<half>() == t.data<half>());
}

TEST_CASE("slice and viewed_as share memory") {
  for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
    const Tensor t = counting(10, dtype);
    const Tensor middle = t.slice(4, {2, 2});
    CHECK(middle.dtype() == dtype);
    CHECK(middle.to_floats() == Floats{4, 5, 6, 7});
    CHECK(middle.slice(2, {2}).to_floats() == Floats{6, 7});  // offsets add up
    CHECK(t.viewed_as({2, 5}).to_floats() == t.to_floats());
    visit_dtype(dtype, [&]<class T> { middle.data<T>()[0] = converted<T>(40.0f); });
    CHECK(t.to_floats()[4] == 40);
    CHECK(t.slice(10, {0}).size() == 0);
  }
}

TEST_CASE("a slice must lie inside, another shape hold as many values") {
  const Tensor t = counting(10);
  CHECK_SAYS("slice: (4) from element 7 on does not lie inside (10)", t.slice(7, {4}));
  CHECK_SAYS("slice: (2) from element -1 on does not lie inside (10)", t.slice(-1, {2}));
  CHECK_SAYS("slice: () from element 10 on does not lie inside (10)", t.slice(10, {}));
  CHECK_SAYS("a tensor of shape (10) cannot be seen as (3, 3)", t.viewed_as({3, 3}));
  // Of a slice, too: its own size counts, not that of the memory behind it.
  CHECK_SAYS("does not lie inside (2)", t.slice(4, {2}).slice(1, {2}));
}

TEST_CASE("a slice keeps the memory alive") {
  Tensor part;
  {
    const Tensor t = counting(100);
    part = t.slice(50, {2});
  }
  const Tensor other = counting(100);  // would be given the memory if it were free
  CHECK(part.to_floats() == Floats{50, 51});
}

TEST_CASE("move_into: every handle sees the values at their new place") {
  const Tensor arena({8}), t = counting(3), alias = t;
  t.move_into(arena, 2);
  CHECK(alias.to_floats() == Floats{0, 1, 2});
  arena.data<float>()[3] = 9;
  CHECK(alias.to_floats() == Floats{0, 9, 2});
  CHECK(t.data<float>() == arena.data<float>() + 2);
  CHECK(t.shape() == Shape{3});

  CHECK_SAYS("slice: (3) from element 6 on does not lie inside (8)", t.move_into(arena, 6));
  CHECK_SAYS("move_into: f32 values on cpu into an arena of f16 on cpu",
             t.move_into(Tensor({8}, DType::f16), 0));
  CHECK(t.to_floats() == Floats{0, 9, 2});  // where they were
}

TEST_CASE("a gradient is set, kept with every handle, and forgotten") {
  const Tensor t = counting(3), alias = t;
  CHECK_FALSE(t.requires_grad());
  t.set_requires_grad(true);
  CHECK(alias.requires_grad());
  CHECK_FALSE(static_cast<bool>(t.grad()));
  t.set_grad(counting(3));
  CHECK(alias.grad().to_floats() == Floats{0, 1, 2});
  alias.clear_grad();
  CHECK_FALSE(static_cast<bool>(t.grad()));
  CHECK_FALSE(static_cast<bool>(t.bound_grad()));
}

TEST_CASE("a bound buffer outlives clear_grad, and is released by unbind_grad") {
  const Tensor t = counting(3), buffer = counting(3, DType::f16);
  t.bind_grad(buffer);
  CHECK_FALSE(static_cast<bool>(t.grad()));  // bound, not yet written
  CHECK(t.bound_grad().id() == buffer.id());
  t.set_grad(buffer);
  CHECK(t.grad().id() == buffer.id());
  t.clear_grad();
  CHECK_FALSE(static_cast<bool>(t.grad()));
  CHECK(t.bound_grad().id() == buffer.id());
  t.unbind_grad();
  CHECK_FALSE(static_cast<bool>(t.bound_grad()));
  CHECK_FALSE(static_cast<bool>(t.grad()));
  CHECK_SAYS("bind_grad: a buffer of shape (2) for a parameter of (3)", t.bind_grad(counting(2)));
}

}  // namespace
}  // namespace tinymp::test
