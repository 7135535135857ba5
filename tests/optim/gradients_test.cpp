#include <tests/catch.h>
#include <tests/optim/rig.h>
#include <tinymp/ops/ops.h>
#include <tinymp/tensor/storage.h>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

// AddressSanitizer brings its own operator new: there, nothing is watched.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TINYMP_TEST_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TINYMP_TEST_ADDRESS_SANITIZER
#endif

namespace {

/// The largest block asked of operator new since it was last set to 0.
std::atomic<std::size_t> largest_allocation{0};

}  // namespace

#if !defined(TINYMP_TEST_ADDRESS_SANITIZER)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // g++ sees free() and not that new is malloc() here
#endif
void* operator new(std::size_t bytes) {
  std::size_t seen = largest_allocation;
  while (bytes > seen && !largest_allocation.compare_exchange_weak(seen, bytes)) {
  }
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
#endif

/// Gradients at rest: one arena, one factor, no copies; clipping; micro-batches.
namespace tinymp::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("clip_norm changes the factor, and only the factor") {
  const Tensor p = parameter({10, 20});
  Sgd optimizer({p}, {.lr = 1});
  LossScaler scaler(StaticScaling{.factor = 8});
  leave_gradient(p, {24, -32});  // 3 and -4 once unscaled
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  const std::vector<std::byte> before = bytes_of(p.grad());

  CHECK(clip_norm(gradients, 6).item() == 5);
  CHECK(gradients.factor() == 0.125f);
  CHECK(clip_norm(gradients, 1).item() == 5);
  CHECK(gradients.factor() == Approx(0.125 / (5 + 1e-6)).epsilon(2e-7));
  CHECK(bytes_of(p.grad()) == before);
  CHECK(clip_norm(gradients, 1).item() == Approx(1).epsilon(1e-6));  // it is clipped now

  optimizer.step(gradients, check);
  CHECK(p.to_floats()[0] == Approx(10 - 0.6).epsilon(1e-6));
  CHECK(p.to_floats()[1] == Approx(20 + 0.8).epsilon(1e-6));
  CHECK(bytes_of(p.grad()) == before);
}

TEST_CASE("unscale clips too when it is asked, with the bits of clip_norm") {
  const Tensor p = parameter({10, 20}), q = parameter({10, 20});
  Sgd one({p}, {.lr = 1}), two({q}, {.lr = 1});
  LossScaler first(StaticScaling{.factor = 8}), second(StaticScaling{.factor = 8});
  leave_gradient(p, {24, -32}), leave_gradient(q, {24, -32});
  Gradients apart = one.gradients(), together = two.gradients();
  const UnscaleResult alone = first.unscale(apart);
  CHECK(!alone.norm());
  const float norm = static_cast<float>(clip_norm(apart, 1).item());
  CHECK_ERROR_SAYS("max_norm is 0", second.unscale(together, 0));
  UnscaleResult check = second.unscale(together, 1);
  CHECK(check.norm()->read() == norm);
  CHECK(together.factor() == apart.factor());
  const DeviceValue<kernels::StepOutcome> outcome = two.step(together, check);
  const DeviceValue<kernels::StepRecords> records(Device::cpu, kernels::StepRecords());
  const Tensor loss = Tensor::from({}, std::vector<float>{0.5f});
  second.update(std::move(check), loss, outcome, records);
  CHECK(records.read().steps == 1);
  CHECK(records.read().at[0].norm == norm);
  CHECK(records.read().at[0].scale == 8);
  CHECK_ERROR_SAYS("handed in before", second.update(std::move(check), loss, outcome, records));
}

TEST_CASE("the norm is that of all parameters together, in any format, without overflow") {
  for (const DType dtype : {DType::f32, DType::f16}) {
    Recipe recipe;
    recipe.compute = recipe.gradient = dtype;
    const Tensor a = parameter({1, 1}, dtype), b = parameter({1}, dtype);
    Sgd optimizer({a, b}, {.lr = 1}, recipe);
    LossScaler scaler(NoScaling{});
    leave_gradient(a, {2, 3});
    leave_gradient(b, {6});
    Gradients gradients = optimizer.gradients();
    const UnscaleResult check = scaler.unscale(gradients);
    CHECK(clip_norm(gradients, 100).item() == 7);
  }
  const Tensor p = parameter({1, 1});
  Sgd optimizer({p}, {.lr = 1});
  LossScaler scaler(NoScaling{});
  leave_gradient(p, {3e30f, 4e30f});  // their squares are no floats
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  CHECK(clip_norm(gradients, 1).item() == Approx(5e30f));
  optimizer.step(gradients, check);
  CHECK(p.to_floats()[0] == Approx(1 - 0.6));
}

TEST_CASE("clipping finite gradients always brings their norm down, be it beyond the largest float") {
  const Tensor p = parameter({1, 1, 1, 1});
  Sgd optimizer({p}, {.lr = 1});
  LossScaler scaler(DynamicScaling{.initial = 1});
  constexpr float huge = std::numeric_limits<float>::max();
  leave_gradient(p, {huge, huge, -huge, huge});  // the norm is twice that
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  REQUIRE(check.finite());
  clip_norm(gradients, 1);
  CHECK(optimizer.step(gradients, check).read().taken);
  for (const float w : p.to_floats()) CHECK(std::fabs(w - 1) < 0.51f);
}

TEST_CASE("clip_norm refuses gradients that are still multiplied by S") {
  const Tensor p = parameter({1});
  Sgd optimizer({p}, {.lr = 1});
  LossScaler scaler(StaticScaling{.factor = 8});
  leave_gradient(p, {24});
  Gradients gradients = optimizer.gradients();
  CHECK_ERROR_SAYS("unscale() first", clip_norm(gradients, 1));
  CHECK_ERROR_SAYS("still multiplied", gradients.factor());
  const UnscaleResult check = scaler.unscale(gradients);
  CHECK(gradients.factor() == 0.125f);  // the refused call has left no trace
  CHECK(clip_norm(gradients, 1).item() == 3);
}

TEST_CASE("clip_norm wants a positive norm") {
  const Tensor p = parameter({1});
  Sgd optimizer({p}, {.lr = 1});
  LossScaler scaler(NoScaling{});
  leave_gradient(p, {1});
  Gradients gradients = optimizer.gradients();
  const UnscaleResult check = scaler.unscale(gradients);
  for (const float bad : {0.0f, -1.0f, not_a_number}) CHECK_ERROR_SAYS("max_norm", clip_norm(gradients, bad));
  CHECK(gradients.factor() == 1);
}

TEST_CASE("clipping leaves gradients alone that are zero or not finite") {
  for (const float value : {0.0f, infinity, not_a_number}) {
    const Tensor p = parameter({1, 1});
    Sgd optimizer({p}, {.lr = 1});
    LossScaler scaler(DynamicScaling{.initial = 4});
    leave_gradient(p, {value, 0});
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    const double norm = clip_norm(gradients, 1).item();
    CHECK(std::isfinite(norm) == std::isfinite(value));
    CHECK(gradients.factor() == 0.25f);
    CHECK(optimizer.step(gradients, check).read().taken == std::isfinite(value));
  }
}

TEST_CASE("a step copies no gradients: the arena stays where it is, and nothing of its size is allocated") {
  constexpr std::size_t n = 1 << 20;
  for (const bool bad : {false, true}) {
    const Tensor p = parameter(std::vector<float>(n, 1.0f), DType::f16);
    Recipe recipe;
    recipe.compute = recipe.gradient = DType::f16;
    Adam optimizer({p}, {}, recipe);
    LossScaler scaler(DynamicScaling{});
    std::vector<float> values(n, 0.5f);
    if (bad) values[n / 2] = infinity;
    leave_gradient(p, values);
    const void* arena = p.grad().view().memory;
    const std::vector<std::byte> before = bytes_of(p.grad());

    const std::size_t in_use = pool_statistics().bytes_in_use;
    largest_allocation = 0;
    Gradients gradients = optimizer.gradients();
    CHECK(gradients.view().memory == arena);
    UnscaleResult check = scaler.unscale(gradients);
    CHECK(gradients.view().memory == arena);
    clip_norm(gradients, 1);
    CHECK(gradients.view().memory == arena);
    CHECK(optimizer.step(gradients, check).read().taken == !bad);
    CHECK(gradients.view().memory == arena);
    scaler.update(std::move(check));
    const std::size_t largest = largest_allocation;
    CHECK(pool_statistics().bytes_in_use - in_use < 1024);  // the flags and counts of one step
    CHECK(largest < n / 4);  // bookkeeping of the reductions; FP16 gradients are 2 n bytes
    CHECK(bytes_of(p.grad()) == before);
    optimizer.zero_grad();
    leave_gradient(p, values);
    CHECK(p.grad().view().memory == arena);
  }
}

TEST_CASE("FP16 training with Adam needs 16 bytes a parameter") {
  constexpr std::size_t n = 1 << 20;
  const std::size_t before = pool_statistics().bytes_in_use;
  const Tensor p = parameter(std::vector<float>(n, 1.0f), DType::f16);
  Recipe recipe;
  recipe.compute = recipe.gradient = DType::f16;
  const Adam optimizer({p}, {}, recipe);
  const double bytes = static_cast<double>(pool_statistics().bytes_in_use - before) / n;
  CHECK(bytes >= 16);  // weight 2, gradient 2, master 4, moments 4 + 4
  CHECK(bytes < 16.1);
}

TEST_CASE("parameters and their gradients lie one behind the other") {
  const Tensor a = parameter({1, 2, 3}), b = parameter({4, 5});
  Sgd optimizer({a, b}, {.lr = 1});
  CHECK(optimizer.weights().to_floats() == std::vector<float>{1, 2, 3, 4, 5});
  CHECK(a.data<float>() == optimizer.weights().data<float>());
  CHECK(b.data<float>() == a.data<float>() + 3);
  leave_gradient(a, {10, 20, 30});
  leave_gradient(b, {40, 50});
  const Gradients gradients = optimizer.gradients();
  const float* g = gradients.view().data<float>();
  CHECK(std::vector<float>(g, g + gradients.view().size()) == std::vector<float>{10, 20, 30, 40, 50});
}

/// loss = x . w, so dloss/dw = x.
void backward_of_dot(const Tensor& w, std::vector<float> x, LossScaler& scaler) {
  Tape tape;
  const Tensor batch = Tensor::from({1, w.shape()[0]}, x, w.dtype());
  tape.backward(scaler.scale(sum(matmul(batch, w))));
}

TEST_CASE("micro-batches add up before the one unscale") {
  const Tensor w = parameter({2, 1}, std::vector{1.0f, 1.0f});
  Sgd optimizer({w}, {.lr = 1});
  LossScaler scaler(DynamicScaling{.initial = 16});
  backward_of_dot(w, {0.25f, 1}, scaler);
  backward_of_dot(w, {0.5f, -2}, scaler);
  Gradients gradients = optimizer.gradients();
  backward_of_dot(w, {1, 0.5f}, scaler);  // a handle on gradients sees what comes in later
  CHECK(w.grad().to_floats() == std::vector<float>{28, -8});
  UnscaleResult check = scaler.unscale(gradients);
  CHECK(optimizer.step(gradients, check).read().taken);
  CHECK(w.to_floats() == std::vector<float>{-0.75f, 1.5f});
  scaler.update(std::move(check));
  optimizer.zero_grad();
  // The next step starts from nothing.
  backward_of_dot(w, {0, 1}, scaler);
  CHECK(w.grad().to_floats() == std::vector<float>{0, 16});
}

TEST_CASE("one bad micro-batch spoils the step, whatever comes after it") {
  const Tensor w = parameter({2, 1}, std::vector{1.0f, 1.0f});
  Sgd optimizer({w}, {.lr = 1});
  LossScaler scaler(DynamicScaling{.initial = 16});
  for (const float x : {1.0f, infinity, -infinity, 1.0f}) backward_of_dot(w, {x, 1}, scaler);
  CHECK_FALSE(run_step(optimizer, scaler).read().taken);
  CHECK(scaler.factor() == 8);
}

TEST_CASE("micro-batches add up in the gradient format of the recipe") {
  for (const DType gradient : {DType::f32, DType::f16}) {
    Recipe recipe;
    recipe.compute = DType::f16;
    recipe.gradient = gradient;
    const Tensor w = parameter({1, 1}, std::vector{1.0f}, DType::f16);
    Sgd optimizer({w}, {.lr = 1}, recipe);
    LossScaler scaler(NoScaling{});
    backward_of_dot(w, {2048}, scaler);
    for (int i = 0; i < 4; ++i) backward_of_dot(w, {1}, scaler);
    CHECK(w.grad().dtype() == gradient);
    // FP16 counts in twos from 2048 on: each 1 is a tie and goes to the even 2048.
    CHECK(w.grad().to_floats()[0] == (gradient == DType::f32 ? 2052 : 2048));
  }
}

TEST_CASE("a parameter that took no part has a gradient of zero, not that of an earlier step") {
  const Tensor used = parameter({2, 1}, std::vector{1.0f, 1.0f}), idle = parameter({5, 6});
  Sgd optimizer({idle, used}, {.lr = 1});
  LossScaler scaler(NoScaling{});
  leave_gradient(idle, {infinity, 3});
  optimizer.zero_grad();
  backward_of_dot(used, {1, 2}, scaler);
  Gradients gradients = optimizer.gradients();
  const UnscaleResult check = scaler.unscale(gradients);
  CHECK(check.counts().zeros == 2);
  CHECK(optimizer.step(gradients, check).read().taken);
  CHECK(idle.to_floats() == std::vector<float>{5, 6});
  CHECK(used.to_floats() == std::vector<float>{0, -1});
}

TEST_CASE("no gradients at all is an error that says what to call") {
  const Tensor w = parameter({2, 1}, std::vector{1.0f, 1.0f});
  Sgd optimizer({w}, {.lr = 1});
  LossScaler scaler(NoScaling{});
  CHECK_ERROR_SAYS("backward", optimizer.gradients());
  backward_of_dot(w, {1, 2}, scaler);
  optimizer.zero_grad();
  CHECK_ERROR_SAYS("backward", optimizer.gradients());
}

}  // namespace
}  // namespace tinymp::test
