#pragma once

#include <string>
#include <string_view>

/// Names of kernels for messages, of the emulation and of real launches.
namespace tinymp::kernels::emu::machine {

/// The compiler's text for a kernel: "... [with auto kernel = {anonymous}::tiled<float, 16>; ...]".
template <auto kernel>
const char* kernel_name() {
  return __PRETTY_FUNCTION__;
}

/// "tiled<float, 16>" out of this text.
inline std::string short_kernel_name(std::string_view text) {
  constexpr std::string_view before = "kernel = ";
  const std::size_t at = text.rfind(before);
  if (at == std::string_view::npos) return std::string(text);
  text.remove_prefix(at + before.size());
  if (text.ends_with(']')) text.remove_suffix(1);
  text = text.substr(0, text.find(';'));
  const std::size_t arguments = text.find('<');
  const std::size_t scope = text.substr(0, arguments).rfind("::");
  if (scope != std::string_view::npos) text.remove_prefix(scope + 2);
  if (text.starts_with('&')) text.remove_prefix(1);
  return std::string(text);
}

}  // namespace tinymp::kernels::emu::machine
