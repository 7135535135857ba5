#pragma once

#include <tinymp/numeric/accumulation.h>
#include <cstdint>

/// Dot products in one accumulator or another, by definition: what a format does to a long sum, apart from
/// any GPU.
namespace tinymp::kernels {

/// The sum over k of a[k] b[k], a chain of fused multiply-adds in the order of k that starts at +0, as gemm()
/// of kernels.h has it: each step is rounded to FP32, and then to half when that is the accumulator.
///
/// With chunks each of them is such a chain, and their sums are added up by another in the same format. A sum
/// of n numbers then loses what n / chunk + chunk additions lose, not n. Wang et al., "Training deep neural
/// networks with 8-bit floating point numbers", NeurIPS 2018 (arXiv 1812.08011), section 3.1; they take 64.
/// @throws Error for another format or a negative chunk.
float dot(const float* a, const float* b, std::int64_t n, const Accumulation& how);

}  // namespace tinymp::kernels
