#pragma once

#include <tinymp/nn/torch_layout.h>
#include <tinymp/train/checkpoint.h>
#include <tinymp/train/safetensors.h>
#include <optional>

/// Tensors between memory and file, and the arenas of an optimizer cut into tensors with names.
namespace tinymp::train {

/// The same format in a file: f16 is F16. Throws Error for a format that safetensors lacks.
StoredType stored_type(DType dtype);
std::optional<DType> dtype_in_memory(StoredType type);  ///< nothing for a format that tensors lack

/// Returns a tensor on the CPU in the layout `as`.
StoredTensor stored(const Tensor& tensor, const nn::TorchTensor& as);
/// Copies the values of a file's tensor, which has the format of `to`, into `to`: undoes stored().
void unpack(const StoredTensor& from, const nn::TorchTensor& as, const Tensor& to);
/// The layout of a tensor that PyTorch keeps as it is.
nn::TorchTensor plain(const std::string& name, const Shape& shape);

/// Where the parts of a moment go in a file.
struct MomentNames {
  std::string weight, master, moment, buffer, scales;  ///< the beginning of each name
};
/// "0.weight", "tinymp.master.0.weight", ...; the buffers have the names of torch_buffers().
inline const MomentNames names_of_now{"", "tinymp.master.", "tinymp.moment", "", "tinymp.fp8."};
/// "tinymp.past.weight.0.weight", ...; the buffers have numbers.
inline const MomentNames names_of_past{"tinymp.past.weight.", "tinymp.past.master.", "tinymp.past.moment",
                                       "tinymp.past.buffer.", "tinymp.past.fp8."};

void add_tensors(const Moment& moment, const MomentNames& names, const CheckpointOwner& owner,
                 Safetensors& contents);
/// The delayed scales in a file, for a model with these products. Throws Error naming `path` where they are missing or do
/// not fit.
DelayedScaleState scales_in(const Safetensors& contents, const std::string& path,
                            const Float8Products& products);

/// Fills the tensors of `moment`. Throws Error naming `path` and a tensor that is missing or does not fit. Adds the
/// names of those it took to `taken`.
void take_tensors(const Safetensors& contents, const MomentNames& names, const std::string& path,
                  const CheckpointOwner& owner, Moment& moment, std::vector<std::string>& taken);

}  // namespace tinymp::train
