#include <kernels/emu/tensor_core.h>
#include <tinymp/numeric/half.h>
#include <atomic>

namespace tinymp::kernels::emu::machine {
namespace {

std::atomic<TensorCore> chosen = chain_of_products;

}  // namespace

void chain_of_products(const TileProduct& tile) {
  for (int m = 0; m < tile.M; ++m) {
    float* const d = tile.d + m * tile.N;
    for (int k = 0; k < tile.K; ++k) {
      const float a = tile.a[m * tile.K + k];
      const float* const b = tile.b + k * tile.N;
      for (int n = 0; n < tile.N; ++n) d[n] += a * b[n];  // 11 + 11 bits at most: the product is exact
    }
  }
  if (tile.sums == Sums::f32) return;
  for (int i = 0; i < tile.M * tile.N; ++i) tile.d[i] = static_cast<float>(half(tile.d[i]));
}

TensorCore tensor_core() { return chosen.load(std::memory_order_relaxed); }
void set_tensor_core(TensorCore core) { chosen = core; }

}  // namespace tinymp::kernels::emu::machine
