#pragma once

#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <span>

namespace tinymp::clinic {

/// () -mean over the batch of log(softmax(logits))[label], in three ops, each rounded to the format of the
/// logits where it hands on: what people write who do not trust, or do not know, the fused one. log goes
/// backward as frameworks have it, dx = dy / x.
Tensor separate_softmax_loss(const Tensor& logits, std::span<const std::int32_t> labels);

}  // namespace tinymp::clinic
