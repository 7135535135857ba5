#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

/// Comma-separated values after RFC 4180. Any line end, a byte order mark and empty lines are taken, too.
namespace tinymp::report {

/// Reads records one after the other.
class CsvReader {
 public:
  /// `name` stands for the file in messages. `in` must outlive the reader.
  CsvReader(std::istream& in, std::string name);

  /// Reads the next record that is no empty line into `fields`; returns false at the end. A field in quotes may hold
  /// commas and line ends, and "" for a quote. Throws Error naming file and line when a quote is not closed, when text
  /// follows a closing quote, or when a record is larger than any that a table of runs has.
  bool next(std::vector<std::string>& fields);

  int line() const { return first_line_; }  ///< where the last record began; 1 is the first line
  std::string place() const;                ///< "FILE:LINE" of it

 private:
  int get();
  bool end_of_line(int c);
  void quoted(std::string& field);
  bool plain(int c, std::string& field);
  [[noreturn]] void fail(const std::string& what) const;

  std::streambuf* in_;
  std::string name_;
  int line_ = 1, first_line_ = 1;
  std::size_t bytes_ = 0;  ///< of this record
};

/// A field as RFC 4180 writes it: in quotes when it holds a comma, a quote, a line end, or a space at an end.
std::string csv_field(std::string_view text);

}  // namespace tinymp::report
