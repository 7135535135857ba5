#pragma once

#include <tests/lessons/shown_number.h>
#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

/// A chapter, taken apart: paragraphs, tables, blocks, and the comments that say where their numbers come
/// from.
///   <!-- results: QUESTION -->   stands before a table of curves. Several questions, separated by " | ",
///                                belong to the columns with a metric, in order.
///   <!-- printed -->             stands before a block of lines that the experiment said.
///   <!-- other seeds -->         stands before a block of lessons/seeds.txt, which seeds_test.cpp compares.
///   <!-- program: NAME -->       stands before a program, <!-- output: NAME --> before what it prints:
///                                tests/consumer/run.cmake builds, runs and compares.
///   <!-- given: 0.1 2.3 -->      lists numbers that no run gives: theory, the set-up, the paper.
/// Left out are programs and commands, `names` (but not `0.77`), the targets of links, and the section "Where
/// this comes from".
namespace tinymp::test {

struct Fault {
  int line;
  std::string what;
};

struct Row {
  int line = 0;
  std::vector<std::string> cells{};
};

struct Readme {
  struct Paragraph {
    int line;
    std::string text;  ///< its lines, as they are broken
  };
  struct Table {
    std::vector<std::string> questions{};  ///< none: not of curves
    Row head{};
    std::vector<Row> rows{};
  };
  struct Block {
    bool printed;
    std::vector<Row> lines{};  ///< one cell each
  };
  struct Given {
    int line;
    Shown number;
  };
  std::vector<Paragraph> paragraphs{};
  std::vector<Table> tables{};
  std::vector<Block> blocks{};
  std::vector<Given> given{};
  std::vector<Fault> faults{};  ///< of its form
};

inline std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Parts of a text between separators, trimmed.
inline std::vector<std::string> split(std::string text, const std::string& separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at != std::string::npos;) {
    at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at != std::string::npos) text.erase(0, at + separator.size());
  }
  return parts;
}

class ReadmeReader {
 public:
  explicit ReadmeReader(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
  }

  Readme read() {
    bool sources = false;
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      const std::string line = trimmed(lines_[at_]);
      if (line.starts_with("## ")) sources = line == "## Where this comes from";
      if (line.starts_with("```"))
        block(Kind::by_its_text);
      else if (line.starts_with("<!--"))
        comment();
      else if (is_table())
        table({});
      else if (!sources)
        paragraph(line);
    }
    return readme_;
  }

 private:
  enum class Kind { printed, by_its_text };

  int line() const { return static_cast<int>(at_) + 1; }
  void fault(const std::string& what) { readme_.faults.push_back({line(), what}); }

  bool next() {  // the next line that is not empty
    while (++at_ < lines_.size() && trimmed(lines_[at_]).empty()) {
    }
    if (at_ == lines_.size()) --at_;
    return !trimmed(lines_[at_]).empty();
  }

  void comment() {
    const int first = line();
    std::string text = trimmed(lines_[at_]).substr(4);
    while (text.find("-->") == std::string::npos && at_ + 1 < lines_.size()) text += "\n" + lines_[++at_];
    const std::size_t end = text.find("-->");
    if (end == std::string::npos) return readme_.faults.push_back({first, "this comment never ends"});
    if (!trimmed(text.substr(end + 3)).empty()) return fault("what follows --> wants a line of its own");
    text = trimmed(text.substr(0, end));
    if (text == "printed") {
      if (!next() || !trimmed(lines_[at_]).starts_with("```"))
        return fault("<!-- printed --> stands before a block");
      block(Kind::printed);
    } else if (text == "other seeds" || text.starts_with("program: ") || text.starts_with("output: ")) {
      if (!next() || !trimmed(lines_[at_]).starts_with("```"))
        return fault("<!-- " + text + " --> stands before a block");
      while (++at_ < lines_.size() && !trimmed(lines_[at_]).starts_with("```")) {
      }
    } else if (text.starts_with("results:")) {
      if (!next() || !is_table()) return fault("<!-- results: --> stands before a table");
      table(split(text.substr(8), " | "));
    } else if (text.starts_with("given:")) {
      for (const Shown& number : numbers_in(text)) readme_.given.push_back({first + number.line, number});
    } else {
      fault(
          "a comment that nobody reads; there are results:, printed, other seeds, program:, "
          "output: and given:");
    }
  }

  /// A program names its language, and commands begin with ./learn; of these only what is said behind a #
  /// counts.
  void block(Kind kind) {
    const std::size_t indent = lines_[at_].find('`'), first = at_;
    const bool program = trimmed(lines_[at_]).size() > 3;
    Readme::Block block{kind == Kind::printed};
    bool commands = false;
    for (++at_; at_ < lines_.size() && !trimmed(lines_[at_]).starts_with("```"); ++at_) {
      const std::string bare = lines_[at_].substr(0, lines_[at_].find_last_not_of(" \r") + 1);
      if (bare.empty()) continue;
      std::string text = bare.substr(std::min(indent, bare.find_first_not_of(' ')));
      commands = commands || (block.lines.empty() && text.starts_with("./learn"));
      if (commands && !block.printed) text.erase(0, std::min(text.find(" # "), text.size()));
      block.lines.push_back({line(), {text}});
    }
    if (at_ == lines_.size()) {
      at_ = first;
      fault("this block never ends");
      at_ = lines_.size();
    }
    if (!program || block.printed) readme_.blocks.push_back(std::move(block));
  }

  bool is_table() const {
    static const std::regex rule(R"(\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*)");
    return at_ + 1 < lines_.size() && lines_[at_].find('|') != std::string::npos &&
           lines_[at_ + 1].find('|') != std::string::npos && std::regex_match(lines_[at_ + 1], rule);
  }

  Row row() const {
    std::string text = trimmed(lines_[at_]);
    if (text.starts_with('|')) text.erase(0, 1);
    if (text.ends_with('|') && !text.ends_with("\\|")) text.pop_back();
    text = std::regex_replace(text, std::regex(R"(\\\|)"), "\x01");  // a bar inside a cell
    Row row{line(), split(text, "|")};
    for (std::string& cell : row.cells) {
      std::ranges::replace(cell, '\x01', '|');
      std::erase(cell, '*');
      std::erase(cell, '`');
      cell = without_targets(cell);
    }
    return row;
  }

  void table(std::vector<std::string> questions) {
    Readme::Table table{std::move(questions), row()};
    for (at_ += 2; at_ < lines_.size() && lines_[at_].find('|') != std::string::npos; ++at_) {
      table.rows.push_back(row());
      const std::size_t cells = table.rows.back().cells.size(), heads = table.head.cells.size();
      if (cells > heads)
        fault(fmt::format("a row of {} cells under a head of {}: '{}' is not shown", cells, heads,
                          table.rows.back().cells[heads]));
      if (cells < heads) fault(fmt::format("a row of {} cells under a head of {}", cells, heads));
      table.rows.back().cells.resize(heads);
    }
    --at_;
    readme_.tables.push_back(std::move(table));
  }

  static std::string without_targets(const std::string& text) {
    return std::regex_replace(text, std::regex(R"(\]\([^)]*\))"), "]");
  }

  void paragraph(const std::string& line_of_it) {
    static const std::regex number("`([-+]?[0-9][0-9.,]*(e[-+]?[0-9]+)? ?%?)`"), code("`[^`]*`");
    const int first = line();
    std::string text = line_of_it;
    const auto goes_on = [&] {
      const std::string next = at_ + 1 < lines_.size() ? trimmed(lines_[at_ + 1]) : "";
      return !next.empty() && !next.starts_with("```") && !next.starts_with("<!--") && !next.starts_with("#");
    };
    while (!line_of_it.starts_with("#") && goes_on()) {
      ++at_;
      if (is_table()) {
        --at_;
        break;
      }
      text += "\n" + trimmed(lines_[at_]);
    }
    text = std::regex_replace(text, number, "$1");
    for (std::smatch m; std::regex_search(text, m, code);) {
      const std::string lines(static_cast<std::size_t>(std::ranges::count(m.str(), '\n')), '\n');
      text = m.prefix().str() + "code" + lines + m.suffix().str();
    }
    std::erase(text, '*');
    readme_.paragraphs.push_back({first, without_targets(text)});
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  Readme readme_;
};

inline Readme read_readme(const std::string& text) { return ReadmeReader(text).read(); }

}  // namespace tinymp::test
