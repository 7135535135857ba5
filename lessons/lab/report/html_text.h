#pragma once

#include <string>
#include <string_view>

/// Text inside a page.
namespace tinymp::report {

/// Foreign text as a page may show it: control characters, what turns the direction of writing, line
/// separators and bytes that are not UTF-8 become U+FFFD. A tab and the end of a line stay.
std::string shown_text(std::string_view text);

/// For element content and quoted attributes: shown_text(), and & < > " ' become entities.
std::string escape_html(std::string_view text);

/// A JSON text for a <script> element: < > & and the line separators U+2028, U+2029 become \u escapes, so
/// that nothing in it can end the script or start a comment. (They occur in JSON inside strings only.)
std::string escape_script(std::string_view json);

/// "2^24" -> "2²⁴"; any other text stays.
std::string pretty_power(const std::string& text);
/// Every power of two of a text: "2^-25 or smaller" -> "2⁻²⁵ or smaller".
std::string pretty_powers(const std::string& text);

}  // namespace tinymp::report
