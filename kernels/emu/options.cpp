#include <kernels/emu/options.h>
#include <tinymp/base/error.h>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tinymp::kernels::emu::machine {
namespace {

Options from_environment() {
  const char* const set = std::getenv("TINYMP_THREAD_ORDER");
  const std::string_view text = set == nullptr ? "" : set;
  constexpr std::string_view shuffled = "shuffled";
  if (text.empty() || text == "forward") return {};
  if (text == "reverse") return {.order = ThreadOrder::reverse};
  if (text == shuffled) return {.order = ThreadOrder::shuffled};
  Options options{.order = ThreadOrder::shuffled};
  const char* const end = text.data() + text.size();
  if (text.substr(0, shuffled.size() + 1) == "shuffled:") {
    const auto [stop, error] = std::from_chars(text.data() + shuffled.size() + 1, end, options.seed);
    if (error == std::errc() && stop == end) return options;
  }
  throw UsageError(concat("TINYMP_THREAD_ORDER is '", text,
                          "': set it to forward, reverse, shuffled or shuffled:SEED, or unset it"));
}

Options& current() {
  static Options options = from_environment();
  return options;
}

}  // namespace

Options options() { return current(); }
void set_options(const Options& options) { current() = options; }

}  // namespace tinymp::kernels::emu::machine
