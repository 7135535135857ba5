#pragma once

#include <kernels/numerics/tensor_core.h>
#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gpu_check.h>
#include <optional>

namespace tinymp::lab::gpu_check {

inline constexpr int most_blocks = 16;  ///< of each row of the table, in bits_blocks.jsonl

/// Runs every instruction of tensor_tiles.h that the GPU has on each kind of numbers, and compares each element with
/// `model`. Elements that differ go to bits_blocks.jsonl in the folder for logs, a line each: operands, accumulator,
/// result and the model's result as hex numbers of their formats. Without a model the first elements go there.
Finding compare_bits(kernels::bench::Executor& executor, std::optional<kernels::Gpu> model,
                     const Setting& setting);

}  // namespace tinymp::lab::gpu_check
