#pragma once

namespace tinymp::kernels {

/// A cudaStream_t without its header: launches on one stream run one after the other; null is the default
/// stream. The emulation runs everything at once and in order.
using Stream = void*;

}  // namespace tinymp::kernels
