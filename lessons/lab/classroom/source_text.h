#pragma once

#include <string>
#include <string_view>

/// Reads a text as a C++ compiler does when it looks for lines of the preprocessor: phases 2 and 3 of the
/// standard ([lex.phases]), as g++ and clang++ do them.
namespace tinymp::classroom {

/// Phase 2: joins a line that ends in a backslash to the next. Spaces, tabs, vertical tabs, form feeds and
/// carriage returns may stand between the backslash and the end of the line. C++17 and later have no
/// trigraphs.
std::string spliced(std::string_view text);

/// Phase 3, of a spliced text: turns each comment into a space, even one of many lines, and empties each
/// literal. The result holds each bracket, each name and each # that a compiler sees.
std::string without_comments(std::string_view spliced);

/// The position of the first character that compilers may take for space or for the end of a line: any
/// control character except those of plain layout. A carriage return alone ends a line for g++. npos: none.
std::size_t odd_character(std::string_view text);

}  // namespace tinymp::classroom
