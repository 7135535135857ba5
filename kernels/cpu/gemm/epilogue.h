#pragma once

#include <kernels/formulas/float8.h>
#include <kernels/kernels.h>

namespace tinymp::kernels::cpu {

/// How the sums of a product end.
struct Ending {
  Epilogue after{};
  bool rounds_once = false;  ///< the operands are FP8
  ProductFactor factor{};    ///< of the sums
};
/// sums[i] = factor sums[i]
void multiply_sums(const ProductFactor& factor, float* sums, std::int64_t count);

/// The ending of a product whose first operand is a.
Ending ending(const Epilogue& after, const View& a);

/// Finishes a product and writes c. `sums` holds rows x columns of the product, from row m and column n of c
/// on. It may be c's own memory, and is overwritten.
void finish(float* sums, std::int64_t stride, std::int64_t rows, std::int64_t columns, const Ending& how,
            const View& c, std::int64_t m, std::int64_t n);

/// The same for a whole c that already holds the product.
void finish(const Epilogue& after, const View& c);

}  // namespace tinymp::kernels::cpu
