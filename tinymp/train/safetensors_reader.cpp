#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/train/safetensors.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

// Reads what may be anything: a file of tensors from elsewhere, or one that a disk has damaged.
namespace tinymp::train {
namespace {

using Json = nlohmann::json;

/// Looks for a key that stands twice in one object: a parser would keep the last.
struct KeyWatch : nlohmann::json_sax<Json> {
  std::optional<std::string> repeated{};

  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) repeated = name;
    return !repeated;
  }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  std::vector<std::set<std::string>> keys_{};  ///< of the objects around this place, outermost first
};

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

  Json header_from(std::string_view text) const {
    need(!text.empty() && text.front() == '{', "its header does not begin with {");
    need(!is_too_deep(text), concat("its header is nested more than ", deepest_json, " deep"));
    KeyWatch watch;
    const bool parsed = Json::sax_parse(text, &watch);
    if (watch.repeated) fail(concat("its header names '", excerpt(*watch.repeated), "' twice"));
    need(parsed, "its header is no JSON object in UTF-8");
    return Json::parse(text);
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
    const std::string which = concat("tensor '", excerpt(name), "'");
    need(json.is_object() && json.size() == 3 && json.contains("dtype") && json.contains("shape") &&
             json.contains("data_offsets"),
         concat(which, " has other keys than dtype, shape and data_offsets"));
    need(json["dtype"].is_string(), concat(which, ": dtype is no text"));
    const std::optional<StoredType> type = stored_type_named(json["dtype"].get_ref<const std::string&>());
    need(type.has_value(),
         concat(which, ": the dtype ", excerpt(json["dtype"].dump()), " is not known to this program"));
    tensor.type = *type;
    need(json["shape"].is_array(), concat(which, ": shape is no list"));
    for (const Json& extent : json["shape"])
      tensor.shape.push_back(static_cast<std::int64_t>(whole(extent, concat(which, ": an extent"))));
    const Json& offsets = json["data_offsets"];
    need(offsets.is_array() && offsets.size() == 2, concat(which, ": data_offsets is no list of two"));
    const std::uint64_t begin = whole(offsets[0], concat(which, ": an offset")),
                        end = whole(offsets[1], concat(which, ": an offset"));
    const std::optional<std::uint64_t> bytes = bytes_of(*type, tensor.shape);
    need(begin <= end && bytes == end - begin,
         concat(which, ": the data from ", begin, " to ", end, " are not those of its shape and dtype"));
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

/// Returns the length of the header; `begin` has the first bytes of a file of `size`.
std::uint64_t header_length(const Reader& reader, std::string_view begin, std::uint64_t size) {
  expect_little_endian();
  reader.need(begin.size() >= length_bytes, concat("it has ", begin.size(), " bytes"));
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(begin[i])} << (8 * i);
  reader.need(length <= longest_header,
              concat("it promises a header of ", length, " bytes, more than ", longest_header));
  reader.need(length <= size - length_bytes,
              concat("it promises a header of ", length, " bytes and ends after ", size));
  return length;
}

using Range = std::pair<std::uint64_t, std::uint64_t>;  ///< begin and end, counted from the end of the header

/// Each byte belongs to one tensor: no memory beyond the file's size is needed, and nothing is hidden in it.
void expect_no_gaps(const Reader& reader, std::vector<Range> ranges, std::uint64_t data) {
  std::ranges::sort(ranges);
  std::uint64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    reader.need(
        begin == covered,
        concat(begin < covered ? "two tensors share the data at " : "no tensor has the data before ", begin));
    covered = end;
  }
  reader.need(covered == data, concat("its tensors have ", covered, " bytes, and ", data, " are there"));
}

struct Layout {
  Safetensors contents{};       ///< without the bytes
  std::vector<Range> ranges{};  ///< of each tensor, in the order of contents.tensors
};

/// What a header says of `data` bytes behind it.
Layout layout_of(const Reader& reader, std::string_view header, std::uint64_t data) {
  const Json parsed = reader.header_from(header);
  Layout layout;
  for (const auto& [name, json] : parsed.items()) {  // in the order of a map
    if (name == metadata_key) {
      layout.contents.metadata = metadata_from(reader, json);
      continue;
    }
    StoredTensor tensor;
    const Range range = reader.range_from(json, name, tensor);
    reader.need(range.second <= data,
                concat("the data of tensor '", excerpt(name), "' end at ", range.second,
                       ", and the file has ", data, " bytes of data: it was cut short"));
    layout.ranges.push_back(range);
    layout.contents.tensors.emplace(name, std::move(tensor));
  }
  expect_no_gaps(reader, layout.ranges, data);
  return layout;
}

}  // namespace

Safetensors parse_safetensors(std::string_view bytes, const std::string& path) {
  const Reader reader{path};
  const std::size_t begin = length_bytes + header_length(reader, bytes, bytes.size());
  const std::string_view data = bytes.substr(begin);
  Layout layout = layout_of(reader, bytes.substr(length_bytes, begin - length_bytes), data.size());
  auto range = layout.ranges.begin();
  for (auto& entry : layout.contents.tensors) {
    entry.second.bytes = data.substr(range->first, range->second - range->first);
    ++range;
  }
  return std::move(layout.contents);
}

Safetensors load_safetensors(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  expect(std::filesystem::exists(status), "cannot read ", path, ": there is no such file");
  expect(std::filesystem::is_regular_file(status), "cannot read ", path, ": it is no regular file");
  errno = 0;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  expect(in.is_open(), "cannot read ", path, ": ", std::strerror(errno));
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(in.tellg(), 0));
  const auto read = [&](std::uint64_t at, std::uint64_t count) {
    std::string bytes(count, '\0');
    in.seekg(static_cast<std::streamoff>(at));
    in.read(bytes.data(), static_cast<std::streamsize>(count));
    expect(in.good() || count == 0, "cannot read ", path, ": the disk reports an error");
    return bytes;
  };
  // The header first: no time and no memory goes into gigabytes of something else.
  const Reader reader{path};
  const std::uint64_t header =
      header_length(reader, read(0, std::min<std::uint64_t>(size, length_bytes)), size);
  const std::uint64_t begin = length_bytes + header;
  Layout layout = layout_of(reader, read(length_bytes, header), size - begin);
  auto range = layout.ranges.begin();
  for (auto& entry : layout.contents.tensors) {
    entry.second.bytes = read(begin + range->first, range->second - range->first);
    ++range;
  }
  expect_unbroken(layout.contents, path);
  return std::move(layout.contents);
}

}  // namespace tinymp::train
