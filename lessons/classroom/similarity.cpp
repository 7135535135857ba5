#include <lessons/classroom/similarity.h>
#include <lessons/classroom/tokens.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <map>
#include <set>

namespace tinymp::classroom {
namespace {

using Pieces = std::map<std::string, int>;
constexpr std::size_t tokens_a_piece = 5;

/// What a token is, whatever it is called.
std::string without_name(const Token& token) {
  static const std::set<std::string_view> kept = {
      "if",     "else",  "for",   "while",    "do",    "switch",    "case",  "return",      "break",
      "const",  "auto",  "int",   "float",    "bool",  "double",    "true",  "false",       "constexpr",
      "struct", "void",  "using", "template", "class", "namespace", "new",   "static_cast", "continue",
      "static", "throw", "try",   "catch",    "this",  "unsigned",  "long",  "sizeof",      "operator",
      "half",   "std",   "min",   "max",      "sqrt",  "fma",       "isnan", "isfinite",    "__syncthreads"};
  return token.kind != Token::Kind::name || kept.contains(token.text) ? std::string(token.text) : "name";
}

Pieces pieces_of(std::string_view text, const Pieces& without) {
  const std::vector<Token> tokens = tokens_of(text);
  Pieces pieces;
  for (std::size_t i = 0; i + tokens_a_piece <= tokens.size(); ++i) {
    std::string piece;
    for (std::size_t k = 0; k < tokens_a_piece; ++k) piece += without_name(tokens[i + k]) + " ";
    if (!without.contains(piece)) ++pieces[piece];
  }
  return pieces;
}

int size_of(const Pieces& pieces) {
  int n = 0;
  for (const auto& [piece, times] : pieces) n += times;
  return n;
}

int in_both(const Pieces& a, const Pieces& b) {
  int n = 0;
  for (const auto& [piece, times] : a) {
    const auto there = b.find(piece);
    if (there != b.end()) n += std::min(times, there->second);
  }
  return n;
}

double share(int part, int whole) { return whole == 0 ? 0 : static_cast<double>(part) / whole; }

/// The text with lines that a backslash continues put together, as a compiler sees it.
std::string spliced(std::string_view text) {
  std::string whole;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i + 1;
    while (text[i] == '\\' && end < text.size() &&
           (text[end] == ' ' || text[end] == '\t' || text[end] == '\r'))
      ++end;
    if (text[i] == '\\' && end < text.size() && text[end] == '\n')
      i = end;
    else
      whole += text[i];
  }
  return whole;
}

/// The first line of the preprocessor; empty when there is none. #pragma unroll is harmless.
std::string directive_in(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of("\n\r", begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    // What comes before it can only be space, or the end of a comment.
    const std::size_t comment = line.rfind("*/");
    for (const std::size_t from : {std::size_t{0}, comment == std::string::npos ? 0 : comment + 2}) {
      const std::size_t at = line.find_first_not_of(" \t\v\f", from);
      if (at == std::string::npos) continue;
      const bool sign = line[at] == '#' || line.compare(at, 2, "%:") == 0;
      if (sign && line.compare(at, 14, "#pragma unroll") != 0) return line.substr(at);
    }
  }
  return "";
}

}  // namespace

double likeness_to(std::string_view reference, std::string_view text, std::string_view stub) {
  const Pieces known = pieces_of(stub, {}), wanted = pieces_of(reference, known);
  return share(in_both(wanted, pieces_of(text, known)), size_of(wanted));
}

double likeness(std::string_view a, std::string_view b, std::string_view stub) {
  const Pieces known = pieces_of(stub, {}), of_a = pieces_of(a, known), of_b = pieces_of(b, known);
  return share(2 * in_both(of_a, of_b), size_of(of_a) + size_of(of_b));
}

bool is_stub(std::string_view text, std::string_view stub) {
  return std::ranges::equal(tokens_of(text), tokens_of(stub), {}, &Token::text, &Token::text);
}

std::string leaves_its_place(std::string_view text) {
  const std::string whole = spliced(text);
  if (const std::string line = directive_in(whole); !line.empty())
    return concat("It holds a line of the preprocessor, ", line.substr(0, 40),
                  ": such lines reach beyond the exercise, and none needs one.");
  for (const char* const other : {"<%", "%>", "R\""})
    if (whole.find(other) != std::string::npos)
      return concat("It holds ", other, ", another way to write brackets or text, which hides them.");
  int depth = 0;
  bool names_a_space = false;
  for (const Token& token : tokens_of(whole)) {
    if (names_a_space && token.kind == Token::Kind::name)
      return concat("It opens a namespace, ", token.text, ": the exercise has its place already.");
    names_a_space = token.text == "namespace";
    if (token.text == "{") ++depth;
    if (token.text == "}" && --depth < 0) return "It closes a bracket } that it did not open.";
  }
  return "";
}

std::vector<std::string> notable_words(std::string_view text) {
  static const std::set<std::string_view> notable = {
      "asm",         "__asm__", "__asm",   "__attribute__", "__attribute", "gnu",   "extern",
      "constructor", "main",    "exit",    "_exit",         "_Exit",       "abort", "fork",
      "system",      "popen",   "syscall", "write",         "dlsym",       "Judge", "judge",
      "check",       "_Pragma", "friend",  "export",        "module",      "import"};
  const std::string whole = spliced(text);
  std::set<std::string> found;
  for (const Token& token : tokens_of(whole))
    if (token.kind == Token::Kind::name && notable.contains(token.text)) found.emplace(token.text);
  return {found.begin(), found.end()};
}

}  // namespace tinymp::classroom
