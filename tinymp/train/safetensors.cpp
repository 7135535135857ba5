#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/train/atomic_file.h>
#include <tinymp/train/safetensors.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
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

constexpr std::size_t length_bytes = 8;  ///< of the number before the header
constexpr const char* metadata_key = "__metadata__";

void expect_little_endian() {
  expect(
      std::endian::native == std::endian::little,
      "safetensors: this machine stores numbers big-endian, the format little-endian; use another machine");
}

/// The bytes of a tensor of this shape; nothing when they do not fit 63 bits.
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

/// A file's faults, with its path in front and the mending behind.
struct Reader {
  const std::string& path;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(concat(path, ": no safetensors file, or a damaged one: ", what,
                       "; take another copy, or an earlier checkpoint"));
  }
  void need(bool ok, const std::string& what) const {
    if (!ok) fail(what);
  }

  /// Keys of one object must differ; a parser would keep the last.
  Json header_from(std::string_view text) const {
    need(!text.empty() && text.front() == '{', "its header does not begin with {");
    need(!is_too_deep(text), concat("its header is nested more than ", deepest_json, " deep"));
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
      const auto level = static_cast<std::size_t>(depth);
      if (event == Json::parse_event_t::object_start) {
        keys.resize(level + 2);
        keys[level + 1].clear();
      } else if (event == Json::parse_event_t::key) {
        const std::string name = parsed.get<std::string>();
        need(keys[level].insert(name).second, concat("its header names '", excerpt(name), "' twice"));
      }
      return true;
    };
    Json header = Json::parse(text, watch, /*allow_exceptions=*/false);
    need(header.is_object(), "its header is no JSON object in UTF-8");
    return header;
  }

  std::uint64_t whole(const Json& json, const std::string& what) const {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    need(json.is_number_unsigned() && json.get<std::uint64_t>() <= most,
         concat(what, " is no whole number below 2^63: ", excerpt(json.dump())));
    return json.get<std::uint64_t>();
  }

  /// Returns the range of the tensor in the data; sets its type and shape.
  std::pair<std::uint64_t, std::uint64_t> range_from(const Json& json, const std::string& name,
                                                     StoredTensor& tensor) const {
    const std::string who = concat("tensor '", excerpt(name), "'");
    need(json.is_object() && json.size() == 3 && json.contains("dtype") && json.contains("shape") &&
             json.contains("data_offsets"),
         concat(who, " has other keys than dtype, shape and data_offsets"));
    need(json["dtype"].is_string(), concat(who, ": dtype is no text"));
    const std::optional<StoredType> type = stored_type_named(json["dtype"].get_ref<const std::string&>());
    need(type.has_value(),
         concat(who, ": the dtype ", excerpt(json["dtype"].dump()), " is not known to this program"));
    tensor.type = *type;
    need(json["shape"].is_array(), concat(who, ": shape is no list"));
    for (const Json& extent : json["shape"])
      tensor.shape.push_back(static_cast<std::int64_t>(whole(extent, concat(who, ": an extent"))));
    const Json& offsets = json["data_offsets"];
    need(offsets.is_array() && offsets.size() == 2, concat(who, ": data_offsets is no list of two"));
    const std::uint64_t begin = whole(offsets[0], concat(who, ": an offset")),
                        end = whole(offsets[1], concat(who, ": an offset"));
    const std::optional<std::uint64_t> bytes = bytes_of(*type, tensor.shape);
    need(begin <= end && bytes == end - begin,
         concat(who, ": the data from ", begin, " to ", end, " are not those of its shape and dtype"));
    return {begin, end};
  }
};

/// The metadata part of a header.
std::map<std::string, std::string> metadata_from(const Reader& reader, const Json& json) {
  reader.need(json.is_object(), "__metadata__ is no JSON object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    reader.need(value.is_string(), concat("__metadata__ has a value that is no text, '", excerpt(key), "'"));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

std::optional<StoredType> stored_type_named(std::string_view name) {
  const auto* row = std::ranges::find(types, name, &TypeRow::name);
  if (row == types.end()) return std::nullopt;
  return static_cast<StoredType>(row - types.begin());
}

std::string_view name_of(StoredType type) { return types[static_cast<std::size_t>(type)].name; }
std::size_t size_of(StoredType type) { return types[static_cast<std::size_t>(type)].bytes; }

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

Safetensors parse_safetensors(std::string_view bytes, const std::string& path) {
  expect_little_endian();
  const Reader reader{path};
  reader.need(bytes.size() >= length_bytes, concat("it has ", bytes.size(), " bytes"));
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  reader.need(length <= longest_header,
              concat("it promises a header of ", length, " bytes, more than ", longest_header));
  reader.need(length <= bytes.size() - length_bytes,
              concat("it promises a header of ", length, " bytes and ends after ", bytes.size()));
  const Json header = reader.header_from(bytes.substr(length_bytes, length));
  const std::string_view data = bytes.substr(length_bytes + length);

  Safetensors contents;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [name, json] : header.items()) {
    if (name == metadata_key) {
      contents.metadata = metadata_from(reader, json);
      continue;
    }
    StoredTensor tensor;
    const auto [begin, end] = reader.range_from(json, name, tensor);
    reader.need(end <= data.size(), concat("the data of tensor '", excerpt(name), "' end at ", end,
                                           ", and the file has ", data.size(), " bytes of data"));
    ranges.emplace_back(begin, end);
    contents.tensors.emplace(name, std::move(tensor));
  }
  // Each byte belongs to one tensor: no memory beyond the file's size is needed, and nothing is hidden in it.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted = ranges;
  std::ranges::sort(sorted);
  std::uint64_t covered = 0;
  for (const auto& [begin, end] : sorted) {
    reader.need(
        begin == covered,
        concat(begin < covered ? "two tensors share the data at " : "no tensor has the data before ", begin));
    covered = end;
  }
  reader.need(covered == data.size(),
              concat("its tensors have ", covered, " bytes, and ", data.size(), " are there"));
  std::size_t i = 0;  // the map has the order of the header's items
  for (auto& [name, tensor] : contents.tensors) {
    tensor.bytes = data.substr(ranges[i].first, ranges[i].second - ranges[i].first);
    ++i;
  }
  return contents;
}

Safetensors load_safetensors(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  expect(std::filesystem::exists(status), "cannot read ", path, ": there is no such file");
  expect(std::filesystem::is_regular_file(status), "cannot read ", path, ": it is no regular file");
  errno = 0;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  expect(in.is_open(), "cannot read ", path, ": ", std::strerror(errno));
  std::string bytes(static_cast<std::size_t>(std::max<std::streamoff>(in.tellg(), 0)), '\0');
  in.seekg(0);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  expect(in.good() || bytes.empty(), "cannot read ", path, ": the disk reports an error");
  return parse_safetensors(bytes, path);
}

void save_safetensors(const std::string& what, const std::string& path, const Safetensors& contents) {
  write_atomically(what, path, safetensors_bytes(contents));
}

}  // namespace tinymp::train
