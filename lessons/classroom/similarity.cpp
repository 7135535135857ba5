#include <lessons/classroom/similarity.h>
#include <lessons/classroom/tokens.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <map>
#include <set>

namespace tinymp::classroom {
namespace {

constexpr std::size_t tokens_a_shingle = 5;

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

Shingles all_shingles_of(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  Shingles shingles;
  for (std::size_t i = 0; i + tokens_a_shingle <= tokens.size(); ++i) {
    std::string shingle;
    for (std::size_t k = 0; k < tokens_a_shingle; ++k) shingle += without_name(tokens[i + k]) + " ";
    ++shingles[shingle];
  }
  return shingles;
}

int size_of(const Shingles& shingles) {
  int n = 0;
  for (const auto& [shingle, times] : shingles) n += times;
  return n;
}

int in_both(const Shingles& a, const Shingles& b) {
  int n = 0;
  for (const auto& [shingle, times] : a) {
    const auto there = b.find(shingle);
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

Shingles shingles_of(std::string_view text, std::string_view stub) {
  const Shingles known = all_shingles_of(stub);
  Shingles shingles = all_shingles_of(text);
  std::erase_if(shingles, [&](const auto& one) { return known.contains(one.first); });
  return shingles;
}

double likeness_to(std::string_view reference, std::string_view text, std::string_view stub) {
  const Shingles wanted = shingles_of(reference, stub);
  return share(in_both(wanted, shingles_of(text, stub)), size_of(wanted));
}

double likeness(const Shingles& a, const Shingles& b) {
  return share(2 * in_both(a, b), size_of(a) + size_of(b));
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
