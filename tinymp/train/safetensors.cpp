#include <tinymp/base/error.h>
#include <tinymp/base/sha256.h>
#include <tinymp/train/atomic_file.h>
#include <tinymp/train/safetensors.h>
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace tinymp::train {
namespace {

using Json = nlohmann::json;

struct TypeRow {
  std::string_view name;
  std::size_t bytes;
};
/// In the order of StoredType: the widest first.
constexpr std::array<TypeRow, 15> types{{{"F64", 8},
                                         {"I64", 8},
                                         {"U64", 8},
                                         {"F32", 4},
                                         {"I32", 4},
                                         {"U32", 4},
                                         {"F16", 2},
                                         {"BF16", 2},
                                         {"I16", 2},
                                         {"U16", 2},
                                         {"F8_E4M3", 1},
                                         {"F8_E5M2", 1},
                                         {"I8", 1},
                                         {"U8", 1},
                                         {"BOOL", 1}}};
static_assert(types.size() == static_cast<std::size_t>(StoredType::BOOL) + 1);

}  // namespace

std::optional<StoredType> stored_type_named(std::string_view name) {
  const auto* row = std::ranges::find(types, name, &TypeRow::name);
  if (row == types.end()) return std::nullopt;
  return static_cast<StoredType>(row - types.begin());
}

std::string_view name_of(StoredType type) { return types[static_cast<std::size_t>(type)].name; }
std::size_t size_of(StoredType type) { return types[static_cast<std::size_t>(type)].bytes; }

std::optional<std::uint64_t> bytes_of(StoredType type, const std::vector<std::int64_t>& shape) {
  std::uint64_t bytes = size_of(type);
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
    if (extent < 0 || bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / extent))
      return std::nullopt;
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return bytes;
}

void expect_little_endian() {
  expect(
      std::endian::native == std::endian::little,
      "safetensors: this machine stores numbers big-endian, the format little-endian; use another machine");
}

std::string safetensors_bytes(const Safetensors& contents) {
  expect_little_endian();
  std::vector<const std::pair<const std::string, StoredTensor>*> order;
  for (const auto& entry : contents.tensors) order.push_back(&entry);
  std::ranges::stable_sort(
      order, [](const auto* a, const auto* b) { return size_of(a->second.type) > size_of(b->second.type); });
  Json header = Json::object();  // sorts by name
  if (!contents.metadata.empty()) header[metadata_key] = contents.metadata;
  std::uint64_t end = 0;
  for (const auto* entry : order) {
    const auto& [name, tensor] = *entry;
    expect(name != metadata_key, "safetensors: a tensor cannot have the name ", metadata_key);
    expect(bytes_of(tensor.type, tensor.shape) == tensor.bytes.size(), "safetensors: tensor '", name,
           "' has ", tensor.bytes.size(), " bytes, other than its shape and dtype say");
    const std::uint64_t begin = std::exchange(end, end + tensor.bytes.size());
    header[name] = {{"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& error) {
    throw Error(concat("safetensors: a name or a text is no UTF-8: ", error.what()));
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  expect(text.size() <= longest_header, "safetensors: ", text.size(), " bytes of header are more than the ",
         longest_header, " that are read again; store fewer tensors");
  std::string file(length_bytes, '\0');
  for (std::size_t i = 0; i < length_bytes; ++i)
    file[i] = static_cast<char>((std::uint64_t{text.size()} >> (8 * i)) & 0xff);
  file.reserve(length_bytes + text.size() + end);
  file += text;
  for (const auto* entry : order) file += entry->second.bytes;
  return file;
}

void seal(Safetensors& contents) {
  contents.metadata.erase(seal_key);
  contents.metadata[seal_key] = sha256(safetensors_bytes(contents));
}

void expect_unbroken(const Safetensors& contents, const std::string& path) {
  const auto found = contents.metadata.find(seal_key);
  if (found == contents.metadata.end()) return;
  Safetensors same = contents;
  seal(same);
  expect(same.metadata[seal_key] == found->second, path,
         ": a damaged file: its contents have another SHA-256 than its text ", seal_key,
         " says; take another copy, or an earlier checkpoint; or, where it was changed on purpose, remove "
         "that text");
}

void save_safetensors(const std::string& what, const std::string& path, const Safetensors& contents) {
  write_atomically(what, path, safetensors_bytes(contents));
}

}  // namespace tinymp::train
