#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tests/train/python.h>
#include <tests/train/small_disk.h>
#include <tinymp/train/atomic_file.h>
#include <tinymp/train/safetensors.h>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>

// The format is https://github.com/huggingface/safetensors, "Format"; its Python package is the oracle.
namespace tinymp::test {
namespace {

using train::Safetensors;
using train::StoredTensor;
using train::StoredType;

std::string file_of(const std::string& header, const std::string& data, std::uint64_t promised) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>((promised >> (8 * i)) & 0xff);
  return bytes + header + data;
}
std::string file_of(const std::string& header, const std::string& data) {
  return file_of(header, data, header.size());
}

std::string counting(std::size_t n) {
  std::string bytes;
  for (std::size_t i = 0; i < n; ++i) bytes += static_cast<char>(i * 37 + 1);
  return bytes;
}

/// A tensor of each format, of odd sizes, with empty tensors and scalars among them.
Safetensors all_kinds() {
  Safetensors all;
  all.metadata = {{"one", "1"}, {"a \"quoted\" name", "\xc3\xa4\n"}};
  for (int i = 0; i <= static_cast<int>(StoredType::BOOL); ++i) {
    const auto type = static_cast<StoredType>(i);
    const std::string name(name_of(type));
    std::string values = counting(3 * size_of(type));
    if (type == StoredType::BOOL) values = std::string("\1\0\1", 3);
    all.tensors["three " + name] = {type, {3, 1}, values};
    all.tensors["scalar " + name] = {type, {}, values.substr(0, size_of(type))};
  }
  all.tensors["empty"] = {StoredType::F16, {0, 4}, ""};
  return all;
}

TEST_CASE("safetensors: the bytes of a file that was written by hand") {
  Safetensors contents;
  contents.metadata["k"] = "v";
  contents.tensors["b"] = {StoredType::F32, {1, 2}, std::string("\0\0\x80\x3f\0\0\0\x40", 8)};  // 1, 2
  contents.tensors["a"] = {StoredType::F16, {}, std::string("\0\x3c", 2)};                      // 1
  const std::string header = R"({"__metadata__":{"k":"v"},)"
                             R"("a":{"data_offsets":[8,10],"dtype":"F16","shape":[]},)"
                             R"("b":{"data_offsets":[0,8],"dtype":"F32","shape":[1,2]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const std::string expected = file_of(padded, std::string("\0\0\x80\x3f\0\0\0\x40\0\x3c", 10));
  CHECK(train::safetensors_bytes(contents) == expected);
  CHECK(train::parse_safetensors(expected, "by hand") == contents);
  // Other programs order the keys in their way, put spaces between, and order the data by name.
  const std::string other = R"( {"a": {"dtype":"F16","shape":[],"data_offsets":[0,2]},)"
                            R"("b": {"dtype":"F32","shape":[1,2],"data_offsets":[2,10]}})";
  const Safetensors read =
      train::parse_safetensors(file_of(other.substr(1), std::string("\0\x3c\0\0\x80\x3f\0\0\0\x40", 10)), "");
  CHECK(read.tensors == contents.tensors);
  CHECK(read.metadata.empty());
}

TEST_CASE("safetensors: every format comes back, and each tensor begins where its values may") {
  const Safetensors all = all_kinds();
  const std::string bytes = train::safetensors_bytes(all);
  CHECK(train::parse_safetensors(bytes, "all") == all);
  CHECK(train::safetensors_bytes(train::parse_safetensors(bytes, "all")) == bytes);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  CHECK((8 + length) % 8 == 0);
  for (const auto& [name, tensor] : all.tensors) {
    if (tensor.bytes.size() < 6) continue;
    const std::size_t at = bytes.find(tensor.bytes, 8 + length);
    INFO(name);
    CHECK(at % size_of(tensor.type) == 0);
  }
  const Safetensors nothing;
  CHECK(train::parse_safetensors(train::safetensors_bytes(nothing), "nothing") == nothing);
}

TEST_CASE("safetensors: a file that is damaged or no such file is refused, with its fault") {
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"t":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  const auto two = [](const std::string& a, const std::string& b) {
    return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + a +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + b + "}}";
  };
  struct Case {
    std::string bytes, says;
  };
  const std::string good = one(R"("U8")", "[4]", "[0,4]");
  const std::vector<Case> cases{
      {"", "it has 0 bytes"},
      {"1234567", "it has 7 bytes"},
      {file_of("{}", "", 10'000'000'000), "promises a header of 10000000000 bytes, more than 16777216"},
      {file_of("{}", "", ~std::uint64_t{0}), "promises a header of 18446744073709551615 bytes"},
      {file_of("{}", "", 3), "promises a header of 3 bytes and ends after 10"},
      {file_of("", "", 0), "does not begin with {"},
      {file_of(" {}", ""), "does not begin with {"},
      {file_of("[]", ""), "does not begin with {"},
      {file_of("{\"t\":", ""), "no JSON object"},
      {file_of("{\"\xff\":1}", ""), "no JSON object in UTF-8"},
      {file_of("{}x", ""), "no JSON object"},
      {file_of("{" + std::string(100, '['), ""), "nested more than 64 deep"},
      {file_of(R"({"t":1})", ""), "other keys than dtype, shape and data_offsets"},
      {file_of(R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"more":1}})", ""), "other keys than"},
      {file_of(R"({"__metadata__":1})", ""), "__metadata__ is no JSON object"},
      {file_of(R"({"__metadata__":{"a":1}})", ""), "a value that is no text, 'a'"},
      {file_of(R"({"__metadata__":{"a":"1","a":"2"}})", ""), "names 'a' twice"},
      {file_of(good.substr(0, good.size() - 1) + "," + good.substr(1), "1234"), "names 't' twice"},
      {file_of(R"({"t":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", ""),
       "names 'dtype' twice"},
      {file_of(one("7", "[4]", "[0,4]"), "1234"), "dtype is no text"},
      {file_of(one(R"("F4")", "[4]", "[0,4]"), "1234"), "the dtype \"F4\" is not known"},
      {file_of(one(R"("U8")", "4", "[0,4]"), "1234"), "shape is no list"},
      {file_of(one(R"("U8")", "[-4]", "[0,4]"), "1234"), "an extent is no whole number below 2^63: -4"},
      {file_of(one(R"("U8")", "[4.0]", "[0,4]"), "1234"), "an extent is no whole number below 2^63: 4.0"},
      {file_of(one(R"("U8")", "[18446744073709551615]", "[0,4]"), "1234"), "below 2^63"},
      {file_of(one(R"("U8")", "[4294967296,4294967296]", "[0,4]"), "1234"), "not those of its shape"},
      {file_of(one(R"("F64")", "[2305843009213693952]", "[0,0]"), ""), "not those of its shape"},
      {file_of(one(R"("U8")", "[5]", "[0,4]"), "1234"), "data from 0 to 4 are not those of its shape"},
      {file_of(one(R"("F32")", "[4]", "[0,4]"), "1234"), "not those of its shape and dtype"},
      {file_of(one(R"("U8")", "[4]", "[4,0]"), "1234"), "data from 4 to 0 are not those"},
      {file_of(one(R"("U8")", "[4]", "[0]"), "1234"), "data_offsets is no list of two"},
      {file_of(one(R"("U8")", "[4]", R"(["0",4])"), "1234"), "an offset is no whole number"},
      {file_of(good, "123"), "end at 4, and the file has 3 bytes of data"},
      {file_of(good, "12345"), "its tensors have 4 bytes, and 5 are there"},
      {file_of(one(R"("U8")", "[4]", "[1,5]"), "12345"), "no tensor has the data before 1"},
      {file_of(two("[0,2]", "[1,3]"), "123"), "two tensors share the data at 1"},
      {file_of(two("[0,2]", "[0,2]"), "12"), "two tensors share the data at 0"},
      {file_of(two("[0,2]", "[3,5]"), "12345"), "no tensor has the data before 3"},
      {file_of("{}", "1"), "its tensors have 0 bytes, and 1 are there"}};
  for (const Case& c : cases) {
    CHECK_SAYS(c.says, train::parse_safetensors(c.bytes, "some/file"));
    CHECK_SAYS("some/file: ", train::parse_safetensors(c.bytes, "some/file"));
  }
  CHECK(train::parse_safetensors(file_of(good, "1234"), "").tensors.at("t").bytes == "1234");
}

TEST_CASE("safetensors: what cannot be read back is not written") {
  Safetensors contents;
  contents.tensors["t"] = {StoredType::F32, {2}, "1234"};
  CHECK_SAYS("tensor 't' has 4 bytes", train::safetensors_bytes(contents));
  contents.tensors["t"].shape = {std::numeric_limits<std::int64_t>::max(), 4};
  CHECK_SAYS("tensor 't' has 4 bytes", train::safetensors_bytes(contents));
  contents.tensors = {{"__metadata__", {StoredType::U8, {1}, "1"}}};
  CHECK_SAYS("cannot have the name __metadata__", train::safetensors_bytes(contents));
  contents.tensors = {{"\xff", {StoredType::U8, {1}, "1"}}};
  CHECK_SAYS("no UTF-8", train::safetensors_bytes(contents));
  contents = {{}, {{"long", std::string(train::longest_header, 'x')}}};
  CHECK_SAYS("bytes of header are more than the 16777216", train::safetensors_bytes(contents));
}

TEST_CASE("safetensors: a file that cannot be read is named, with the reason") {
  const files::Folder folder;
  CHECK_SAYS("there is no such file", train::load_safetensors(folder / "none"));
  CHECK_SAYS("no regular file", train::load_safetensors(folder.path.string()));
  files::write(folder / "empty", {});
  CHECK_SAYS("it has 0 bytes", train::load_safetensors(folder / "empty"));
}

TEST_CASE("safetensors: the header is judged before gigabytes behind it are read") {
  const files::Folder folder;
  const std::string path = folder / "large";
  std::ofstream(path, std::ios::binary)
      << file_of(R"({"t":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "1234");
  std::error_code failed;
  std::filesystem::resize_file(path, std::uintmax_t{1} << 38, failed);  // sparse: 256 GiB that no disk holds
  if (failed) SKIP_TEST("this file system holds no sparse file of 256 GiB");
  CHECK_SAYS("its tensors have 4 bytes, and 274877906883", train::load_safetensors(path));
}

TEST_CASE("safetensors: the time for a header grows as its length does", "[repeats]") {
  const auto seconds_for = [](int tensors) {
    Safetensors many;
    for (int i = 0; i < tensors; ++i) many.tensors[concat("t", i)] = {StoredType::U8, {1}, "1"};
    const std::string bytes = train::safetensors_bytes(many);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(train::parse_safetensors(bytes, "many") == many);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double few = seconds_for(4000);
  CHECK(seconds_for(64000) <
        64 * few + 1);  // 16 times as long a header; where it grows as the square: 256 times
}

TEST_CASE("a file is written whole or not at all: full and read-only disks keep the old one") {
  SmallDisk disk(64);
  if (!disk.mounted) SKIP_TEST("mounting a small tmpfs needs Linux and root");
  const std::string path = disk / "state", old(20000, 'o');
  train::write_atomically("the checkpoint", path, old);
  CHECK(text_of(path) == old);
  disk.fill();
  CHECK_SAYS("cannot write the checkpoint " + path + ": No space left on device; free some space",
             train::write_atomically("the checkpoint", path, std::string(20001, 'n')));
  CHECK(text_of(path) == old);
  CHECK_FALSE(std::filesystem::exists(path + ".part"));
  std::filesystem::remove(disk / "ballast");
  train::write_atomically("the checkpoint", path, "new");
  CHECK(text_of(path) == "new");
  disk.make_read_only();
  CHECK_SAYS("Read-only file system", train::write_atomically("the checkpoint", path, old));
  CHECK(text_of(path) == "new");
}

TEST_CASE("a file is written whole or not at all: other things in its way") {
  const files::Folder folder;
  CHECK_SAYS("make its folder first", train::write_atomically("the checkpoint", folder / "none/state", "x"));
  std::filesystem::create_directory(folder / "state");
  CHECK_SAYS("Is a directory", train::write_atomically("the checkpoint", folder / "state", "x"));
  CHECK_FALSE(std::filesystem::exists(folder / "state.part"));
  files::write(folder / "other.part", {1, 2, 3});  // left by a program that was killed
  train::write_atomically("the checkpoint", folder / "other", "x");
  CHECK(text_of(folder / "other") == "x");
  CHECK_FALSE(std::filesystem::exists(folder / "other.part"));
}

TEST_CASE("safetensors: Python's package reads the same, and writes what we read") {
  if (!python("import safetensors")) SKIP_TEST("no Python package safetensors");
  const files::Folder folder;
  const Safetensors all = all_kinds();
  train::save_safetensors("the file", folder / "ours", all);
  const std::optional<std::string> said = python(R"(
import ctypes, sys
import safetensors
tensors = safetensors.deserialize(open(sys.argv[1], 'rb').read())
for name, t in sorted(tensors):
    print(name, t['dtype'], list(t['shape']), bytes(t['data']).hex())
# PyTorch's names of the formats, as the packages write them
names = {'F64': 'float64', 'F32': 'float32', 'F16': 'float16', 'BF16': 'bfloat16', 'I64': 'int64',
         'U8': 'uint8', 'F8_E4M3': 'float8_e4m3fn', 'F8_E5M2': 'float8_e5m2', 'BOOL': 'bool'}
alive = []
def stored(t):
    data, dtype = bytes(t['data']), names[t['dtype']]
    if not hasattr(safetensors, 'TensorSpec'):  # before 0.8
        return {'dtype': dtype, 'shape': t['shape'], 'data': data}
    alive.append(ctypes.create_string_buffer(data, len(data) or 1))
    return safetensors.TensorSpec(dtype=dtype, shape=t['shape'], data_ptr=ctypes.addressof(alive[-1]),
                                  data_len=len(data))
safetensors.serialize_file({n: stored(t) for n, t in tensors if t['dtype'] in names}, sys.argv[2], {'one': '1'})
)",
                                                 {folder / "ours", folder / "theirs"});
  REQUIRE(said.has_value());
  std::string expected;
  for (const auto& [name, tensor] : all.tensors) {
    expected += name + " " + std::string(name_of(tensor.type)) + " [";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
      expected += (i > 0 ? ", " : "") + std::to_string(tensor.shape[i]);
    expected += "] ";
    for (const char c : tensor.bytes) {
      const auto byte = static_cast<unsigned char>(c);
      expected += "0123456789abcdef"[byte >> 4];
      expected += "0123456789abcdef"[byte & 15];
    }
    expected += "\n";
  }
  CHECK(*said == expected);
  const Safetensors theirs = train::load_safetensors(folder / "theirs");
  CHECK(theirs.tensors.size() == 19);  // nine formats, twice, and the empty one
  for (const auto& [name, tensor] : theirs.tensors) CHECK(tensor == all.tensors.at(name));
}

TEST_CASE("safetensors: PyTorch reads every format that it has, and writes what we read") {
  if (!python("import torch, safetensors")) SKIP_TEST("no Python package torch");
  const files::Folder folder;
  const Safetensors all = all_kinds();
  train::save_safetensors("the file", folder / "ours", all);
  const std::optional<std::string> said = python(R"(
import sys
import torch
from safetensors import safe_open
from safetensors.torch import save_file
formats = {torch.float64: 'F64', torch.float32: 'F32', torch.float16: 'F16', torch.bfloat16: 'BF16',
           torch.int64: 'I64', torch.int32: 'I32', torch.int16: 'I16', torch.int8: 'I8', torch.uint8: 'U8',
           torch.bool: 'BOOL'}
if hasattr(torch, 'float8_e5m2'):  # since 2.1
    formats.update({torch.float8_e4m3fn: 'F8_E4M3', torch.float8_e5m2: 'F8_E5M2'})
tensors = {}
with safe_open(sys.argv[1], 'pt') as file:
    for name in sorted(file.keys()):
        format = file.get_slice(name).get_dtype()
        if format not in formats.values():
            continue
        t = file.get_tensor(name)
        assert formats[t.dtype] == format and list(t.shape) == file.get_slice(name).get_shape()
        tensors[name] = t
print(len(formats), len(tensors), float(tensors['three F32'][1, 0]), int(tensors['scalar I32']))
save_file(tensors, sys.argv[2])
)",
                                                 {folder / "ours", folder / "theirs"});
  REQUIRE(said.has_value());
  float second = 0;
  std::int32_t scalar = 0;
  std::memcpy(&second, all.tensors.at("three F32").bytes.data() + 4, 4);
  std::memcpy(&scalar, all.tensors.at("scalar I32").bytes.data(), 4);
  std::istringstream words(*said);
  std::size_t formats = 0, count = 0;
  double of_second = 0;
  std::int64_t of_scalar = 0;
  words >> formats >> count >> of_second >> of_scalar;
  CHECK(formats >= 10);
  CHECK(count == 2 * formats + 1);  // each twice, and the empty one
  CHECK(of_second == static_cast<double>(second));
  CHECK(of_scalar == scalar);
  const Safetensors theirs = train::load_safetensors(folder / "theirs");
  CHECK(theirs.tensors.size() == count);
  for (const auto& [name, tensor] : theirs.tensors) CHECK(tensor == all.tensors.at(name));
}

}  // namespace
}  // namespace tinymp::test
