#include <lessons/lab/learn/commands/byte_size.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <string_view>

namespace tinymp::lab {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
  double least = 0;
};
constexpr double least_without_unit = 1e6;  // --budget 12 hardly means 12 bytes
constexpr Unit units[] = {{"", 1, least_without_unit},
                          {"B", 1},
                          {"kB", 1e3},
                          {"KB", 1e3},
                          {"MB", 1e6},
                          {"GB", 1e9},
                          {"TB", 1e12},
                          {"KiB", 0x1p10},
                          {"kiB", 0x1p10},
                          {"MiB", 0x1p20},
                          {"GiB", 0x1p30},
                          {"TiB", 0x1p40}};

}  // namespace

std::int64_t bytes_from(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
  constexpr double most = 1e18;
  for (const Unit& unit : units)
    if (error == std::errc() && rest == unit.name && number >= unit.least && number * unit.bytes >= 1 &&
        number * unit.bytes <= most)
      return std::llround(number * unit.bytes);  // 1.001 GB is no whole number of bytes in binary
  throw UsageError(
      concat("'", text,
             "' is no size of memory; write 12GB (10^9 bytes each), 12GiB (2^30), 800MB or a number of bytes "
             "from 1000000 on; 4096B where they are fewer"));
}

CLI::Validator byte_size() {
  return {[](std::string& text) {
            try {
              static_cast<void>(bytes_from(text));
              return std::string();
            } catch (const UsageError& error) {
              return std::string(error.what());
            }
          },
          ""};
}

}  // namespace tinymp::lab
