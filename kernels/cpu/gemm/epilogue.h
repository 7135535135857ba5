#pragma once

#include <kernels/kernels.h>

namespace tinymp::kernels::cpu {

/// What follows a product: `sums` holds rows x columns of it, from row m and column n of c on. Writes c.
/// `sums` may be c's own memory, and is not kept.
void finish(float* sums, std::int64_t stride, std::int64_t rows, std::int64_t columns, const Epilogue& after,
            const View& c, std::int64_t m, std::int64_t n);

/// The same for a whole c that holds the product already.
void finish(const Epilogue& after, const View& c);

}  // namespace tinymp::kernels::cpu
