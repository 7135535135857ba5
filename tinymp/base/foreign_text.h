#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text that another program or person wrote: how much of it is shown, kept and read.
namespace tinymp {

/// Returns at most `most` bytes, for a message, then "..."; bytes that are not printable ASCII look like
/// \x1b.
std::string excerpt(std::string_view text, std::size_t most = 80);

/// Returns at most `most` characters of UTF-8; the last is "…" when characters are left out.
std::string cut_to(std::string text, std::size_t most);

std::string lowered(std::string text);            ///< ASCII letters in lower case
std::string_view trimmed(std::string_view text);  ///< without spaces and tabs at both ends

/// The JSON of tinymp is nested less deep than this. Deeper JSON could overflow the stack of a parser.
inline constexpr int deepest_json = 64;

/// True when brackets outside of quotes are nested more than `deepest_json` deep.
bool is_too_deep(std::string_view json);

}  // namespace tinymp
