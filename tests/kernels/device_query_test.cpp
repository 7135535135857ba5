#include <kernels/device.h>
#include <tests/catch.h>

namespace tinymp::test {
namespace {

TEST_CASE("asking for GPUs never throws, and a GPU that is not there has no name") {
  const int count = kernels::cuda_device_count();
  CHECK(count >= 0);
  CHECK(kernels::cuda_device_name(count).empty());
  CHECK(kernels::cuda_device_name(-1).empty());
  for (int i = 0; i < count; ++i) CHECK_FALSE(kernels::cuda_device_name(i).empty());
}

}  // namespace
}  // namespace tinymp::test
