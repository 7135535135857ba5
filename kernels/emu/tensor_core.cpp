#include <kernels/emu/chip.h>
#include <kernels/emu/counters.h>
#include <kernels/emu/tensor_core.h>
#include <tinymp/numeric/half.h>
#include <array>
#include <atomic>

namespace tinymp::kernels::emu::machine {
namespace {

std::atomic<std::uint64_t> products = 0;

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

Operand operand_of(Operands format) {
  switch (format) {
    case Operands::f16:
      return Operand::fp16;
    case Operands::bf16:
      return Operand::bf16;
    case Operands::e4m3:
      return Operand::e4m3;
    case Operands::e5m2:
      break;
  }
  return Operand::e5m2;
}

TensorCore core_for(Gpu gpu, const TileProduct& tile) {
  const Operand a = operand_of(tile.operands);
  if (a == Operand::e4m3 || a == Operand::e5m2)
    return tensor_core_of_mix(gpu, a, operand_of(tile.operands_of_b), float8_instruction());
  return tensor_core(gpu, a, tile.sums == Sums::f16 ? Accumulator::f16 : Accumulator::f32);
}

void as_computed_by(Gpu gpu, const TileProduct& tile) {
  const TensorCore core = core_for(gpu, tile);
  std::array<float, 16 * 32> columns;
  for (int n = 0; n < tile.N; ++n) {
    for (int k = 0; k < tile.K; ++k)
      columns[static_cast<std::size_t>(n * tile.K + k)] = tile.b[k * tile.N + n];
  }
  tensor_core_tile(core, tile.a, columns.data(), tile.d, tile.M, tile.N, tile.K);
}

}  // namespace

void multiply(const TileProduct& tile) {
  products.fetch_add(1, std::memory_order_relaxed);
  if (const Chip gpu = chip()) {
    as_computed_by(*gpu, tile);
  } else {
    chain_of_products(tile);
  }
}

std::uint64_t tile_products() { return products.load(std::memory_order_relaxed); }

}  // namespace tinymp::kernels::emu::machine
