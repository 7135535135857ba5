#include <tests/base/says.h>
#include <tests/cuda/device.h>
#include <tests/kernels/rig.h>
#include <tinymp/ops/ops.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/tensor/device_value.h>

/// Tensors that move between the devices.
namespace tinymp::test {
namespace {

TEST_CASE("a tensor goes there and comes back with its bits") {
  NEEDS_CUDA();
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const Shape shape : {Shape{}, Shape{7}, Shape{0}, Shape{33, 1025}}) {
      const Tensor x = drawn(shape, dtype, 5), there = x.to(Device::cuda);
      CHECK(there.device() == Device::cuda);
      CHECK(there.dtype() == dtype);
      CHECK(there.shape() == shape);
      CHECK(bits_equal(there.to(Device::cpu), x));
      CHECK(there.to_doubles() == x.to_doubles());
    }
  }
  const Tensor halves = all_halves();
  CHECK(bits_equal(halves.to(Device::cuda).to(Device::cpu), halves));
}

TEST_CASE("to() where it is already is the tensor itself") {
  NEEDS_CUDA();
  const Tensor x = drawn({3}, DType::f32, 1), there = x.to(Device::cuda);
  CHECK(x.to(Device::cpu).id() == x.id());
  CHECK(there.to(Device::cuda).id() == there.id());
}

TEST_CASE("many copies in flight do not overtake each other") {
  NEEDS_CUDA();
  std::vector<Tensor> there;
  for (int i = 0; i < 300; ++i)
    there.push_back(Tensor::from({1000}, std::vector<float>(1000, static_cast<float>(i))).to(Device::cuda));
  for (int i = 0; i < 300; ++i)
    CHECK(there[static_cast<std::size_t>(i)].to_floats()[999] == static_cast<float>(i));
}

TEST_CASE("a slice of a tensor moves alone") {
  NEEDS_CUDA();
  const Tensor x = Tensor::from({6}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor part = x.slice(2, {3}).to(Device::cuda);
  CHECK(part.to_floats() == std::vector<float>{3, 4, 5});
  CHECK(x.to(Device::cuda).slice(1, {2}).to_floats() == std::vector<float>{2, 3});
}

TEST_CASE("move_to moves every handle, but an optimizer's parameters stay") {
  NEEDS_CUDA();
  const Tensor p = Tensor::from({2}, std::vector<float>{1, 2}).set_requires_grad(true), handle = p;
  p.move_to(Device::cuda);
  CHECK(handle.device() == Device::cuda);
  CHECK(handle.requires_grad());
  CHECK(handle.to_floats() == std::vector<float>{1, 2});
  {
    const Adam optimizer({p}, {});
    CHECK(optimizer.weights().device() == Device::cuda);
    CHECK_SAYS("belongs to an optimizer", p.move_to(Device::cpu));
  }
  p.move_to(Device::cpu);
  CHECK(handle.device() == Device::cpu);
}

TEST_CASE("ops refuse tensors of two devices, the CPU refuses memory that it does not see") {
  NEEDS_CUDA();
  const Tensor x = drawn({2, 2}, DType::f32, 1), there = x.to(Device::cuda);
  CHECK_SAYS("move one of them with .to()", add(x, there));
  CHECK_SAYS("move one of them with .to()", matmul(there, x));
  CHECK_SAYS("move one of them with .to()", mse(there, x));
  CHECK_SAYS("on cuda; take .to(Device::cpu) first", there.data<float>());
  const Tensor p = drawn({2}, DType::f32, 1).set_requires_grad(true),
               q = drawn({2}, DType::f32, 1).to(Device::cuda).set_requires_grad(true);
  CHECK_SAYS("move the whole model to one device", Adam({p, q}, {}));
}

TEST_CASE("a value lives on the device, copies are handles on it") {
  NEEDS_CUDA();
  const DeviceValue<double> value(Device::cuda, 2.5);
  const DeviceValue<double> handle = value;
  handle.write(-1);
  CHECK(value.read() == -1);
  CHECK(value.device() == Device::cuda);
}

TEST_CASE("an optimizer's state goes from one device to the other") {
  NEEDS_CUDA();
  const auto parameter = [](Device device) {
    return Tensor::from({3}, std::vector<float>{1, 2, 3}).to(device).set_requires_grad(true);
  };
  const Tensor here = parameter(Device::cpu), there = parameter(Device::cuda);
  Adam first({here}, {.lr = 0.5f}), second({there}, {});
  const Optimizer::State state = first.state();
  second.restore(state);
  CHECK(second.learning_rate() == 0.5f);
  CHECK(second.weights().device() == Device::cuda);
  CHECK(there.to_floats() == std::vector<float>{1, 2, 3});
  const Optimizer::State back = second.state();  // takes no room there
  for (const Tensor& kept : {back.weights, back.master, back.moments[0], back.moments[1]})
    CHECK(kept.device() == Device::cpu);
  const Optimizer::State beside = second.state(Device::cuda);
  CHECK(beside.weights.device() == Device::cuda);
  CHECK(beside.weights.id() != second.weights().id());  // a copy
  second.restore(beside);
  CHECK(there.to_floats() == std::vector<float>{1, 2, 3});
}

}  // namespace
}  // namespace tinymp::test
