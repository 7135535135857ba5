#include <tinymp/base/error.h>
#include <tinymp/data/picture.h>
#include <tinymp/data/picture_decoder.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

// stb_image, with these formats alone, as a part of this file. It allocates here: no more than was declared,
// and all of it is freed at the end, however the end came.
namespace tinymp::data {
namespace {

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    for (const auto& [block, bytes] : blocks_) std::free(block);
  }

  void* take(std::size_t bytes) {
    if (bytes > most_decoder_bytes - held_) {
      is_spent_ = true;
      return nullptr;
    }
    // Zeros: stb_image 2.27 reads some of what a damaged file did not fill, and the picture must be the same each time.
    void* block = std::calloc(bytes == 0 ? 1 : bytes, 1);
    if (block == nullptr) return nullptr;
    blocks_.emplace(block, bytes);
    held_ += bytes;
    return block;
  }

  void give_back(void* block) {
    const auto found = blocks_.find(block);
    if (found == blocks_.end()) return;
    held_ -= found->second;
    std::free(block);
    blocks_.erase(found);
  }

  void* take_more(void* block, std::size_t bytes) {
    void* larger = take(bytes);
    if (larger == nullptr || block == nullptr) return larger;
    std::memcpy(larger, block, std::min(bytes, blocks_.at(block)));
    give_back(block);
    return larger;
  }

  bool is_spent() const { return is_spent_; }

 private:
  std::unordered_map<void*, std::size_t> blocks_{};
  std::size_t held_ = 0;
  bool is_spent_ = false;
};

thread_local Memory* memory = nullptr;  // of the call under way in this thread

struct AssertionFailed {};

inline void stb_expects(bool holds) {
  if (!holds) throw AssertionFailed();
}

}  // namespace
}  // namespace tinymp::data

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_NO_SIMD  // the same bits on every processor
#define STBI_MALLOC(bytes) ::tinymp::data::memory->take(bytes)
#define STBI_REALLOC(block, bytes) ::tinymp::data::memory->take_more(block, bytes)
#define STBI_FREE(block) ::tinymp::data::memory->give_back(block)
#define STBI_ASSERT(holds) ::tinymp::data::stb_expects(holds)
#include <stb_image.h>

namespace tinymp::data {
namespace {

DecodedPicture decode(std::span<const std::uint8_t> file, const PictureHeader& header,
                      const std::string& path) {
  const auto length = static_cast<int>(file.size());
  int cols = 0, rows = 0, channels = 0;
  const auto damaged = [&](const char* why) {
    return concat(path, ": damaged: it cannot be decoded (", why != nullptr ? why : "no reason given", "); ",
                  mend_picture);
  };
  if (stbi_info_from_memory(file.data(), length, &cols, &rows, &channels) == 0)
    throw Error(damaged(stbi_failure_reason()));
  expect(cols == header.cols && rows == header.rows, path, ": damaged: its size is told in two ways; ",
         mend_picture);
  const stbi_uc* pixels = stbi_load_from_memory(file.data(), length, &cols, &rows, &channels, 0);
  expect(!memory->is_spent(), path, ": takes more than ", most_decoder_bytes >> 20,
         " MiB to decode; make it smaller first");
  if (pixels == nullptr) throw Error(damaged(stbi_failure_reason()));
  expect(cols == header.cols && rows == header.rows && channels >= 1 && channels <= 4, path,
         ": damaged: its size is told in two ways; ", mend_picture);
  return {channels, {pixels, pixels + header.rows * header.cols * channels}};
}

}  // namespace

DecodedPicture decode_with_stb(std::span<const std::uint8_t> file, const PictureHeader& header,
                               const std::string& path) {
  expect(file.size() <= most_picture_bytes, path, ": ", file.size(), " bytes; at most ", most_picture_bytes,
         " are read: make it smaller first");
  Memory own;
  memory = &own;
  try {
    DecodedPicture decoded = decode(file, header, path);
    memory = nullptr;
    return decoded;
  } catch (const AssertionFailed&) {
    memory = nullptr;
    throw Error(concat(path, ": damaged: it cannot be decoded; ", mend_picture));
  } catch (...) {
    memory = nullptr;
    throw;
  }
}

}  // namespace tinymp::data
