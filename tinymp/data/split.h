#pragma once

#include <tinymp/data/dataset.h>

namespace tinymp::data {

/// The images of `from` at `indices`, in that order.
Dataset pick(const Dataset& from, std::span<const std::int64_t> indices);

/// Takes a tenth of `all` for validation, at least `least` and at most 5,000, and leaves the rest for training. The
/// choice depends on the number of images alone; both parts keep their order.
Split split_off_validation(const Dataset& all, Dataset test, std::int64_t least = 0);

}  // namespace tinymp::data
