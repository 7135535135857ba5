#include <lessons/lab/classroom/tokens.h>
#include <tests/classroom/mutate.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace tinymp::classroom {
namespace {

using Kind = Token::Kind;

struct Change {
  std::string_view from;
  std::vector<std::string_view> to;
};

/// Operators that stand between two values; as they are formatted, there is a space on either side. (Not |
/// to ^, the same for bits that do not overlap; nor == to >=, the same for the largest value that there is;
/// nor < to !=, the same in loops.)
const std::array operators = {
    Change{"+", {"-", "*"}},
    Change{"-", {"+", "/"}},
    Change{"*", {"/", "+"}},
    Change{"/", {"*", "-"}},
    Change{"%", {"/", "*"}},
    Change{"<<", {">>", "+"}},
    Change{">>", {"<<", "-"}},
    Change{"&", {"|", "^"}},
    Change{"|", {"&"}},
    Change{"^", {"|", "&"}},
    Change{"&&", {"||"}},
    Change{"||", {"&&"}},
    Change{"==", {"!="}},
    Change{"!=", {"=="}},
    Change{"<", {"<=", ">="}},
    Change{"<=", {"<", ">"}},
    Change{">", {">=", "<="}},
    Change{">=", {">", "<"}},
    Change{"+=", {"-=", "="}},
    Change{"-=", {"+=", "="}},
    Change{"*=", {"/=", "="}},
    Change{"/=", {"*=", "="}},
    Change{"|=", {"&=", "="}},
    Change{"&=", {"|=", "="}},
    Change{"?", {"&& false ?", "|| true ?"}},
};

const std::array words = {Change{"true", {"false"}}, Change{"false", {"true"}}, Change{"min", {"max"}},
                          Change{"max", {"min"}},    Change{"yes", {"no"}},     Change{"no", {"yes"}}};

class Maker {
 public:
  explicit Maker(std::string_view region) : region_(region), tokens_(tokens_of(region)) {}

  const std::vector<Token>& tokens() const { return tokens_; }

  void replace(std::size_t begin, std::size_t end, const std::string& by,
               const std::string& description = "") {
    const std::string_view before = region_.substr(0, begin);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    std::string text(region_);
    text.replace(begin, end - begin, by);
    made_.push_back(
        {concat(line, ":", begin - line_begin + 1, " ",
                description.empty() ? concat(region_.substr(begin, end - begin), " => ", by) : description),
         std::move(text)});
  }
  void replace(const Token& token, const std::string& by) { replace(token.begin, token.end(), by); }

  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text;
  }
  bool is_name(std::size_t i) const { return i < tokens_.size() && tokens_[i].kind == Kind::name; }
  bool spaced(const Token& token) const {
    const auto space = [&](std::size_t i) {
      return i >= region_.size() || std::isspace(static_cast<unsigned char>(region_[i])) != 0;
    };
    return token.begin > 0 && space(token.begin - 1) && space(token.end());
  }
  /// The name at i is being declared: "float a, i".
  bool declared(std::size_t i) const {
    while (i > 1 && is(i - 1, ",") && is_name(i - 2)) i -= 2;
    return i > 0 && (is_name(i - 1) || is(i - 1, ">"));
  }
  /// The token that closes what opens at i.
  std::size_t closing(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (is(i, "(") || is(i, "{") || is(i, "[")) ++depth;
      if ((is(i, ")") || is(i, "}") || is(i, "]")) && --depth == 0) return i;
    }
    return tokens_.size();
  }
  std::vector<Mutant> take() { return std::move(made_); }

 private:
  std::string_view region_;
  std::vector<Token> tokens_;
  std::vector<Mutant> made_;
};

void change_operator(Maker& maker, std::size_t i) {
  const Token& token = maker.tokens()[i];
  if (token.text == "++" || token.text == "--") maker.replace(token, token.text == "++" ? "--" : "++");
  if (token.text == "!") maker.replace(token, "");
  const bool negates = token.text == "-" && !maker.spaced(token) && i > 0 && !maker.is_name(i - 1);
  if (negates) maker.replace(token, "");
  if (!maker.spaced(token)) return;
  for (const Change& change : operators)
    for (const std::string_view to : change.to)
      if (change.from == token.text) maker.replace(token, std::string(to));
}

void change_number(Maker& maker, std::size_t i) {
  const Token& token = maker.tokens()[i];
  const std::string number(token.text);
  const bool hex = number.rfind("0x", 0) == 0;
  const bool whole = number.find('.') == std::string::npos && (!hex || number.find('p') == std::string::npos);
  if (whole) {
    maker.replace(token, "(" + number + " + 1)");
    if (number != "0") maker.replace(token, "(" + number + " - 1)");
  } else {
    maker.replace(token, "(2 * " + number + ")");
    maker.replace(token, "(0 * " + number + ")");
  }
}

void change_word(Maker& maker, std::size_t i) {
  const Token& token = maker.tokens()[i];
  for (const Change& change : words)
    for (const std::string_view to : change.to)
      if (change.from == token.text) maker.replace(token, std::string(to));
  const bool condition = (token.text == "if" || token.text == "while") && !maker.is(i + 1, "constexpr");
  if (condition && maker.is(i + 1, "(")) {
    const std::size_t begin = maker.tokens()[i + 1].end(), end = maker.tokens()[maker.closing(i + 1)].begin;
    maker.replace(begin, begin, "false && ", concat(token.text, " never"));
    if (token.text == "if") maker.replace(end, end, " || true", "if always");
  }
  if (!maker.declared(i) && maker.is(i + 1, ",") && maker.is_name(i + 2) && !maker.is(i + 3, "(") &&
      !maker.is(i + 3, "::")) {
    const Token& other = maker.tokens()[i + 2];
    if (token.text != other.text)
      maker.replace(token.begin, other.end(), concat(other.text, ", ", token.text));
  }
}

bool declares_or_returns(const Maker& maker, std::size_t first, std::size_t last) {
  static const std::set<std::string_view> kinds = {"const",    "constexpr", "auto",          "return",
                                                   "using",    "static",    "static_assert", "break",
                                                   "template", "case",      "default"};
  if (kinds.contains(maker.tokens()[first].text)) return true;
  // Two names in a row: a type and what is declared.
  for (std::size_t i = first; i + 1 < last && !maker.is(i, "(") && !maker.is(i, "="); ++i)
    if (maker.is_name(i) && maker.is_name(i + 1)) return true;
  return false;
}

/// Leaves out each statement, one at a time; of "if (x) y;" the whole.
void drop_statements(Maker& maker) {
  const std::vector<Token>& tokens = maker.tokens();
  std::size_t first = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (maker.is(i, "(") || maker.is(i, "[")) i = std::min(maker.closing(i), tokens.size() - 1);
    if (maker.is(i, "{") || maker.is(i, "}") || maker.is(i, ":")) first = i + 1;
    if (!maker.is(i, ";")) continue;
    if (first < i && !declares_or_returns(maker, first, i))
      maker.replace(tokens[first].begin, tokens[i].begin, "",
                    concat("without ", tokens[first].text, i > first + 1 ? " ..." : ""));
    first = i + 1;
  }
}

}  // namespace

std::vector<Mutant> mutants_of(std::string_view region) {
  Maker maker(region);
  for (std::size_t i = 0; i < maker.tokens().size(); ++i) {
    switch (maker.tokens()[i].kind) {
      case Kind::sign:
        change_operator(maker, i);
        break;
      case Kind::number:
        change_number(maker, i);
        break;
      case Kind::name:
        change_word(maker, i);
        break;
      case Kind::text:
        break;
    }
  }
  drop_statements(maker);
  return maker.take();
}

std::vector<Mutant> renamed_mutants_of(std::string_view region) {
  Maker maker(region);
  const std::vector<Token>& tokens = maker.tokens();
  const auto is_value = [&](std::size_t i) {
    static const std::set<std::string_view> reserved = {"const",       "auto", "if",   "for",    "return",
                                                        "float",       "int",  "std",  "double", "bool",
                                                        "static_cast", "else", "while"};
    const bool qualified = i > 0 && (maker.is(i - 1, "::") || maker.is(i - 1, ".") || maker.is(i - 1, "->"));
    const bool argument_of_template = i > 0 && maker.is(i - 1, "<") && !maker.spaced(tokens[i - 1]);
    return maker.is_name(i) && !qualified && !argument_of_template && !maker.is(i + 1, "(") &&
           !maker.is(i + 1, "::") && !maker.is(i + 1, "<") && !maker.is_name(i + 1) &&
           !reserved.contains(tokens[i].text);
  };
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (is_value(i)) names.insert(tokens[i].text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool declared = i > 0 && maker.is_name(i - 1) && !maker.is(i - 1, "return");
    if (!is_value(i) || declared) continue;
    for (const std::string_view name : names)
      if (name != tokens[i].text) maker.replace(tokens[i], std::string(name));
  }
  return maker.take();
}

}  // namespace tinymp::classroom
