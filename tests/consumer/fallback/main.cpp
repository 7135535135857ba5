#include <zlib.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

int main(int argc, char** argv) {
  CLI::App app;
  std::string text = "{\"check\": 3421780262}";  // CRC-32 of "123456789"
  app.add_option("--json", text);
  CLI11_PARSE(app, argc, argv);
  const auto expected = nlohmann::json::parse(text).at("check").get<unsigned long>();
  const unsigned long found = crc32(0, reinterpret_cast<const Bytef*>("123456789"), 9);
  std::puts(fmt::format("{:08x} {} {}", found, found == expected ? "good" : "bad", DYGRAPHS).c_str());
  return found == expected ? 0 : 1;
}
