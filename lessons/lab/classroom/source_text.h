#pragma once

#include <string>
#include <string_view>

/// A text as a C++ compiler sees it when it looks for lines of the preprocessor: the phases 2 and 3 of the
/// standard ([lex.phases]), in the way of g++ and clang++.
namespace tinymp::classroom {

/// Phase 2: lines that end in a backslash are joined to the next. Spaces, tabs, vertical tabs, form feeds and
/// carriage returns may stand between the backslash and the end of the line. Trigraphs are none since C++17.
std::string spliced(std::string_view text);

/// Phase 3, of a spliced text: a comment is a space, even one of many lines, and a literal is empty. What is
/// left holds each bracket, each name and each # that a compiler sees.
std::string without_comments(std::string_view spliced);

/// Where the first character stands that compilers may take for space or for the end of a line: any control
/// character but those of plain layout. A carriage return alone ends a line for g++. npos: none.
std::size_t odd_character(std::string_view text);

}  // namespace tinymp::classroom
