#pragma once

#include <string>
#include <string_view>

/// Text inside a page.
namespace tinymp::report {

/// For element content and quoted attributes: & < > " ' become entities; control characters and bytes that
/// are not UTF-8 become U+FFFD.
std::string escape_html(std::string_view text);

/// A JSON text for a <script> element: < > & and the line separators U+2028, U+2029 become \u escapes, so
/// that nothing in it can end the script or start a comment. (They occur in JSON inside strings only.)
std::string escape_script(std::string_view json);

/// "2^24" -> "2²⁴"; any other text stays.
std::string pretty_power(const std::string& text);

}  // namespace tinymp::report
