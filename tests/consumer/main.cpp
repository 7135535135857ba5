#include <kernels/device.h>
#include <tinymp/base/error.h>
#include <tinymp/data/idx.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/numeric/half.h>
#include <tinymp/ops/ops.h>
#include <tinymp/train/run_log.h>
#include <cstdio>

// Touches every part of the library that leans on another one (zlib, JSON, threads, CUDA), so that a missing
// one shows when this is linked.
int main() {
  using namespace tinymp;
  std::printf("1 = %s\n", to_bit_string(half(1.0f)).c_str());

  Rng rng(1);
  const nn::Mlp model({4, 3, 2}, recipes::fp16_dynamic, rng);
  const Tensor logits = model(Tensor(Shape{2, 4}, DType::f16));
  std::printf("logits %s, %d GPUs\n", std::string(name_of(logits.dtype())).c_str(),
              kernels::cuda_device_count());

  int refused = 0;
  try {
    data::read_idx_images("/nowhere/images.gz");
  } catch (const Error&) {
    ++refused;
  }
  try {
    train::load_run("/nowhere/run.jsonl");
  } catch (const Error&) {
    ++refused;
  }
  return refused == 2 ? 0 : 1;
}
