#include <kernels/cpu/fast/gemm_tile.h>
#include <tinymp/numeric/half.h>
#include <cmath>

namespace tinymp::kernels::cpu {
namespace {

using Vector = float;
constexpr int width = 1, rows = 4, vectors = 4;

Vector load(const float* p) { return *p; }
void store(float* p, Vector v) { *p = v; }
Vector broadcast(float x) { return x; }
Vector multiply_add(Vector a, Vector b, Vector c) { return std::fma(a, b, c); }
Vector round_to_half(Vector v) { return static_cast<float>(half(v)); }

}  // namespace
#include <kernels/cpu/fast/gemm_micro.inc>

GemmTile gemm_tile_portable() { return {rows, vectors * width, multiply}; }

}  // namespace tinymp::kernels::cpu
