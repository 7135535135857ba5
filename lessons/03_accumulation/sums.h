#pragma once

#include <lessons/lab/learn/lab.h>

/// The arithmetic of lesson 03: long sums in several formats.
namespace tinymp::lab {

/// Three sums in FP32, in FP16 and in chunks, and where they end.
void show_sums(Lab& lab);

/// The error of dot products, one value a draw, as a share of the sum of |a b|.
struct DotErrors {
  std::vector<double> f32{}, f16{}, chunks{};
  std::vector<double> fp8{};  ///< as an H100's tensor core sums e4m3 operands, keeping 13 bits
};
/// Tables by K, of U(0,1) and of N(0,1). Returns what it found for U(0,1) and K = 16384.
DotErrors show_dot_products(Lab& lab);

}  // namespace tinymp::lab
