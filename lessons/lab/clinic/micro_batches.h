#pragma once

#include <lessons/lab/clinic/case.h>
#include <tinymp/data/loader.h>
#include <vector>

/// A step of an owner with a small memory: its batch in parts, one after the other, whose gradients add up.
namespace tinymp::clinic {

inline constexpr const char* means_line = "for each micro-batch: backward of S x loss / their number";
inline constexpr const char* shares_line =
    "for each micro-batch: backward of S x loss x its share of the samples";

struct MicroBatch {
  data::Batch batch;
  float weight;  ///< of its loss, a mean over its own samples
};

/// The parts of a batch in their order, of Program::micro_batches samples each. Without these it is one part of weight 1.
/// Throws Error unless they add up to the batch.
std::vector<MicroBatch> parts_of(const data::Batch& batch, const Program& program);

}  // namespace tinymp::clinic
