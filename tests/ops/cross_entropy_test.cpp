#include <tests/ops/check_cross_entropy.h>

namespace tinymp::test {
namespace {

TEST_CASE("cross_entropy: loss and gradient are right to 1e-6, whatever the logits are shifted by") {
  check_cross_entropy(Device::cpu);
}

TEST_CASE("cross_entropy of FP16 logits near the largest is right, too") {
  const Tensor logits = Tensor::from({1, 3}, std::vector<float>(3, 60000), DType::f16);
  CHECK(cross_entropy(logits, std::vector<std::int32_t>{1}).item() == Approx(std::log(3.0)).epsilon(1e-6));
}

}  // namespace
}  // namespace tinymp::test
