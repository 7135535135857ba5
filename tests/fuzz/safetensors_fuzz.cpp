#include <tests/fuzz/fuzz.h>
#include <tinymp/base/error.h>
#include <tinymp/train/safetensors.h>

// A file of tensors from elsewhere: refused, or read, and then written and read again without a change.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tinymp;
  try {
    const train::Safetensors contents = train::parse_safetensors(text_of(data, size), "fuzzed");
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : contents.tensors) bytes += tensor.bytes.size();
    if (bytes > size) std::abort();
    const std::string again = train::safetensors_bytes(contents);
    if (!(train::parse_safetensors(again, "again") == contents)) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
