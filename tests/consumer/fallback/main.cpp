#include <zlib.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNM
#include <stb_image.h>

int main(int argc, char** argv) {
  CLI::App app;
  std::string text = "{\"check\": 3421780262}";  // CRC-32 of "123456789"
  app.add_option("--json", text);
  CLI11_PARSE(app, argc, argv);
  const auto expected = nlohmann::json::parse(text).at("check").get<unsigned long>();
  const unsigned long found = crc32(0, reinterpret_cast<const Bytef*>("123456789"), 9);
  int rows = 0, cols = 0, channels = 0;
  stbi_info_from_memory(reinterpret_cast<const stbi_uc*>("P5 3 2 255\n"), 11, &cols, &rows, &channels);
  if (rows != 2 || cols != 3) return 1;
  std::puts(fmt::format("{:08x} {} {}", found, found == expected ? "good" : "bad", DYGRAPHS).c_str());
  return found == expected ? 0 : 1;
}
