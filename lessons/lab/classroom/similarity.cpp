#include <lessons/lab/classroom/similarity.h>
#include <lessons/lab/classroom/tokens.h>
#include <algorithm>
#include <map>
#include <set>

namespace tinymp::classroom {
namespace {

constexpr std::size_t tokens_a_shingle = 5;

/// The token; a name that the text chose becomes "name".
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

}  // namespace tinymp::classroom
