#include <tests/fuzz/fuzz.h>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

// replay_NAME FOLDER: each file of it once, and each with a piece cut off and a byte changed.
int main(int argc, char** argv) {
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream in(entry.path(), std::ios::binary);
      std::vector<std::uint8_t> bytes(std::istreambuf_iterator<char>(in), {});
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      for (std::size_t part = 1; part < 16; ++part) {
        const std::size_t at = bytes.size() * part / 16;
        LLVMFuzzerTestOneInput(bytes.data(), at);
        if (at < bytes.size()) bytes[at] ^= 0x11;
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      }
      ++count;
    }
  }
  std::printf("%d seeds\n", count);
  return count > 0 ? 0 : 1;
}
