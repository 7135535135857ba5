#include <kernels/cpu/gemm/tile.h>
#include <tinymp/numeric/half.h>
#include <array>
#include <cmath>

namespace tinymp::kernels::cpu {
namespace {

constexpr int width = 2, most_rows = 4, narrow_rows = 4;
using Vector = std::array<float, width>;
using Mask = int;

Mask first(int n) { return n; }
Vector load(const float* p) { return {p[0], p[1]}; }
Vector load(const float* p, Mask m) { return {m > 0 ? p[0] : 0, m > 1 ? p[1] : 0}; }
void store(float* p, const Vector& v) {
  p[0] = v[0];
  p[1] = v[1];
}
void store(float* p, const Vector& v, Mask m) {
  p[0] = v[0];
  if (m > 1) p[1] = v[1];
}
Vector broadcast(float x) { return {x, x}; }
Vector multiply_add(const Vector& a, const Vector& b, const Vector& c) {
  return {std::fma(a[0], b[0], c[0]), std::fma(a[1], b[1], c[1])};
}
Vector round_to_half(const Vector& v) {
  return {static_cast<float>(half(v[0])), static_cast<float>(half(v[1]))};
}

}  // namespace
#include <kernels/cpu/gemm/tile.inc>

Tile tile_portable() { return {most_rows, 2 * width, narrow_rows, width, multiply}; }

}  // namespace tinymp::kernels::cpu
