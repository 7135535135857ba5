#pragma once

#include <kernels/cuda/gemm/tensor_tiles.h>
#include <tinymp/base/rng.h>
#include <vector>

/// The numbers that ./learn gpu-check gives to tensor cores.
namespace tinymp::lab::gpu_check {

/// What is special about the operands and sums of a tile.
enum class Kind : std::uint8_t {
  spread,     ///< exponents so far apart that sums lose bits
  subnormal,  ///< subnormal operands, and results where the format of the sums has them
  large,      ///< near the largest numbers: sums overflow where they can, and cancel
  special,    ///< among others infinities (E4M3 has none) and NaN
};
inline constexpr Kind kinds[] = {Kind::spread, Kind::subnormal, Kind::large, Kind::special};
const char* name_of(Kind kind);

/// Numbers of a format, and the same as its bits.
struct Numbers {
  std::vector<float> values{};
  std::vector<std::uint32_t> bits{};  ///< in the lowest 8, 16 or 32

  std::vector<unsigned char> bytes(int size) const;  ///< as they lie in memory, `size` bytes a number
};

int bytes_of(kernels::Operand operand);
int bytes_of(kernels::Sums sums);
std::uint32_t bits_of(kernels::Operand operand, float x);
std::uint32_t bits_of(kernels::Sums sums, float x);
float value_of(kernels::Sums sums, std::uint32_t bits);

/// `count` operands; `first` chooses which of the two operands of a product is the subnormal or the large one.
Numbers draw(Rng& rng, std::size_t count, kernels::Operand operand, Kind kind, bool first);
/// `count` numbers to add to sums of such products.
Numbers draw_sums(Rng& rng, std::size_t count, kernels::Sums sums, kernels::Operand operand, Kind kind);

}  // namespace tinymp::lab::gpu_check
