#pragma once

#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <span>

namespace tinymp::clinic {

/// () -mean over the batch of log(softmax(logits))[label], in three ops. Each op rounds its result to the
/// format of the logits. People write the loss so when they do not know the fused one, or do not trust it.
/// The backward of log is that of other frameworks, dx = dy / x.
Tensor separate_softmax_loss(const Tensor& logits, std::span<const std::int32_t> labels);

}  // namespace tinymp::clinic
