#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Files of named tensors in the safetensors format, which PyTorch, JAX and NumPy read:
///   8 bytes       N, the length of the header, little-endian
///   N bytes       the header, JSON: {"NAME":{"dtype":"F16","shape":[64,784],"data_offsets":[BEGIN,END]},...}
///                 and "__metadata__", texts by name; spaces at the end, so that the data begin at a multiple of 8
///   the rest      the values, little-endian, rows one after another, without gaps between tensors
/// Source: https://github.com/huggingface/safetensors, "Format".
namespace tinymp::train {

/// The formats of a tensor in a file, with their names there. tinymp trains in F64, F32, F16 and BF16.
enum class StoredType : std::uint8_t {
  F64,
  I64,
  U64,
  F32,
  I32,
  U32,
  F16,
  BF16,
  I16,
  U16,
  F8_E4M3,
  F8_E5M2,
  I8,
  U8,
  BOOL
};
std::string_view name_of(StoredType type);                           ///< "F8_E4M3"
std::optional<StoredType> stored_type_named(std::string_view name);  ///< nothing for an unknown name
std::size_t size_of(StoredType type);                                ///< bytes of one value

/// The bytes of a tensor of this shape; nothing for a negative extent, or where they do not fit 63 bits.
std::optional<std::uint64_t> bytes_of(StoredType type, const std::vector<std::int64_t>& shape);
void expect_little_endian();  ///< throws Error: a file holds values as this machine does, or is not read

struct StoredTensor {
  StoredType type = StoredType::F32;
  std::vector<std::int64_t> shape{};  ///< outermost first; empty: one value
  std::string bytes{};                ///< the values, little-endian
  bool operator==(const StoredTensor&) const = default;
};

/// The contents of a file.
struct Safetensors {
  std::map<std::string, StoredTensor> tensors{};
  std::map<std::string, std::string> metadata{};
  bool operator==(const Safetensors&) const = default;
};

inline constexpr std::size_t length_bytes = 8;  ///< of the number before the header
inline constexpr const char* metadata_key = "__metadata__";
/// The longest header that is read and written, in bytes. The format allows 100 MB; 16 MiB describe 100,000
/// tensors.
inline constexpr std::size_t longest_header = std::size_t{16} << 20;

/// Returns the file as bytes. Equal contents give equal bytes. The header is in order of name, the data in order
/// of value size (largest first), then name, so that each tensor begins at a multiple of its value size.
/// Throws Error when a tensor has other bytes than its shape says, or a name is no UTF-8.
std::string safetensors_bytes(const Safetensors& contents);

/// Reads bytes that safetensors_bytes, or another program, made. `path` is for messages. Takes memory in
/// proportion to the bytes that are there, whatever the header promises. Throws Error naming path and fault:
/// a length beyond the file or the limit, a header that is no JSON of this form, a name given twice, ranges
/// that overlap, leave a gap, lie beyond the file or do not fit the shape.
Safetensors parse_safetensors(std::string_view bytes, const std::string& path);

/// The same for a file, whose header is checked before its data are read. Throws Error when it cannot be read, and
/// when it has a seal of other contents.
Safetensors load_safetensors(const std::string& path);

/// A seal is a text of the metadata: the SHA-256 of safetensors_bytes() without it. A bit that turned over on a disk
/// or on the way changes no length and no JSON; the seal tells. A file without one is not checked.
inline constexpr const char* seal_key = "tinymp.sha256";
void seal(Safetensors& contents);
void expect_unbroken(const Safetensors& contents, const std::string& path);  ///< throws Error naming the path

/// Writes a file, whole or not at all (atomic_file.h). `what` names it in a message.
void save_safetensors(const std::string& what, const std::string& path, const Safetensors& contents);

}  // namespace tinymp::train
