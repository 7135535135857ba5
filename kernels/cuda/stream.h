#pragma once

namespace tinymp::kernels {

/// A cudaStream_t without its header: launches on one stream run one after the other; null is the default
/// stream. The emulation runs everything at once and in order.
using Stream = void*;

/// The one that tensors live on. Not the default stream, of which CUDA cannot make a graph.
namespace cuda {
Stream stream();
}
namespace emu {
inline Stream stream() { return nullptr; }
}  // namespace emu

}  // namespace tinymp::kernels
