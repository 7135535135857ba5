#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text that another program or person wrote: how much of it is shown, kept and read.
namespace tinymp {

/// For a message: at most `most` bytes of it, then "..."; what is not printable ASCII as \x1b.
std::string excerpt(std::string_view text, std::size_t most = 80);

/// At most `most` characters of UTF-8, the last of them "…" where some are left out.
std::string cut_to(std::string text, std::size_t most);

/// JSON that tinymp writes is nested less deep than this. Readers that recurse would overflow the stack.
inline constexpr int deepest_json = 64;

/// Whether brackets outside of quotes open more than `deepest_json` deep.
bool is_too_deep(std::string_view json);

}  // namespace tinymp
