#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/ops/ops.h>
#include <tinymp/tensor/indices.h>
#include <tinymp/tensor/tensor.h>
#include <limits>
#include <set>

/// Device::meta: shapes and formats without memory.
namespace tinymp::test {
namespace {

constexpr std::int64_t tera = std::int64_t{1} << 40;

TEST_CASE("meta: a tensor that no machine could hold counts its bytes, and takes none") {
  const auto account = std::make_shared<MemoryAccount>();
  const PoolStatistics before = pool_statistics();
  {
    const MemoryRegion region(account, MemoryKind::activations);
    const Tensor huge({1024, tera}, DType::f32, Device::meta);
    const Tensor other = Tensor::like(huge);
    CHECK(account->now(MemoryKind::activations) == 2 * 1024 * tera * 4);
    CHECK(huge.view().memory != nullptr);
    CHECK(huge.view().memory != other.view().memory);
    CHECK_FALSE(huge.shares_memory(other));
    CHECK(huge.slice(tera, {tera}).shares_memory(huge));
    CHECK(huge.slice(tera, {tera}).device() == Device::meta);
  }
  CHECK(account->now(MemoryKind::activations) == 0);
  CHECK(pool_statistics().from_system == before.from_system);
  CHECK(pool_statistics().from_pool == before.from_pool);
  CHECK(pool_statistics().bytes_in_use == before.bytes_in_use);
}

TEST_CASE("meta: many sizes leave nothing behind in the pool") {
  const std::size_t before = pool_statistics().from_system;
  for (std::size_t bytes = 1; bytes < 1'000'000'000; bytes = bytes * 3 + 1) Storage(bytes, Device::meta);
  CHECK(pool_statistics().from_system == before);
}

TEST_CASE("meta: what is read is 0, what is written is gone") {
  const Tensor x = Tensor::from({3}, std::vector<float>{1, 2, 3}).to(Device::meta);
  CHECK(x.device() == Device::meta);
  CHECK(x.to_floats() == std::vector<float>{0, 0, 0});
  CHECK(x.to(Device::cpu).device() == Device::cpu);
  CHECK(Tensor(Shape{}, DType::f16, Device::meta).item() == 0);
  const DeviceValue<double> value(Device::meta, 7.0);
  CHECK(value.read() == 0);
  value.write(8);
  CHECK(value.read() == 0);
  x.round_to(DType::f16);
  CHECK(x.dtype() == DType::f16);
  CHECK(x.device() == Device::meta);
  CHECK_SAYS("data() of a tensor on meta", x.data<half>());
  CHECK_SAYS("no values to move to cuda", x.to(Device::cuda));
}

TEST_CASE("meta: numbers of a range count, and ops check them") {
  const Indices tokens(5, 0, 6, Device::meta);
  const Tensor table({7, 4}, DType::f32, Device::meta);
  CHECK(resident::embedding(table, tokens).shape() == Shape{5, 4});
  CHECK_SAYS("token 7 is not one", resident::embedding(table, Indices(5, 0, 7, Device::meta)));
  CHECK_SAYS("tokens on cpu for a table on meta",
             resident::embedding(table, Indices(std::vector<std::int32_t>{1}, Device::cpu)));
}

TEST_CASE("meta: ops and their backward run on shapes, and ask what they ask elsewhere") {
  const Tensor x({4, 8}, DType::f16, Device::meta), w({8, 3}, DType::f16, Device::meta),
      b({3}, DType::f16, Device::meta);
  w.set_requires_grad(true);
  b.set_requires_grad(true);
  {
    Tape tape;
    const Tensor loss = cross_entropy(linear(x, w, b, {.activation = Activation::relu}),
                                      std::vector<std::int32_t>{0, 2, 1, 0});
    CHECK(loss.device() == Device::meta);
    CHECK(loss.dtype() == DType::f32);
    tape.backward(loss);
  }
  CHECK(w.grad().shape() == w.shape());
  CHECK(w.grad().device() == Device::meta);
  CHECK(b.grad().dtype() == DType::f16);
  CHECK_SAYS("does not fit", matmul(x, x));
  CHECK_SAYS("on meta meets", matmul(x, Tensor({8, 3}, DType::f16)));
  CHECK_SAYS("meets f32", add(x, Tensor({4, 8}, DType::f32, Device::meta)));
}

TEST_CASE("meta: it has a name, and no program trains there") {
  CHECK(name_of(Device::meta) == "meta");
  CHECK(name_of(Device::cpu) == "cpu");
  CHECK(name_of(Device::cuda) == "cuda");
  CHECK(device_from_name("cuda") == Device::cuda);
  CHECK_SAYS("choose cpu or cuda", device_from_name("meta"));
}

}  // namespace
}  // namespace tinymp::test
