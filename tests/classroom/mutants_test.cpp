#include <lessons/lab/classroom/tokens.h>
#include <tests/catch.h>
#include <tests/classroom/mutate.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tinymp::test {
namespace {

using namespace classroom;

std::string joined(std::string_view text) {
  std::string words;
  for (const Token& token : tokens_of(text)) words += (words.empty() ? "" : "|") + std::string(token.text);
  return words;
}

std::vector<std::string> ids(const std::vector<Mutant>& mutants) {
  std::vector<std::string> found;
  for (const Mutant& mutant : mutants) found.push_back(mutant.id);
  return found;
}

bool has(const std::vector<Mutant>& mutants, const std::string& text) {
  return std::ranges::find(mutants, text, &Mutant::text) != mutants.end();
}

}  // namespace

TEST_CASE("text becomes tokens, without comments and directives") {
  CHECK(joined("a+=b; // c\n/* d\n e */ f") == "a|+=|b|;|f");
  CHECK(joined("#line 3 \"x\"\ny->z <= 1") == "y|->|z|<=|1");
  CHECK(joined("0x1p-24f * 0b1'00 + 1.5e+3 - .5f") == "0x1p-24f|*|0b1'00|+|1.5e+3|-|.5f");
  CHECK(joined("x = 0xe+1") == "x|=|0xe|+|1");
  CHECK(joined(R"(say("a // \" b", '"');)") == R"(say|(|"a // \" b"|,|'"'|)|;)");
  CHECK(joined("v<std::vector<int>>") == "v|<|std|::|vector|<|int|>>");
  CHECK(joined("\"never closed") == "\"never closed");
  CHECK(tokens_of("  ab")[0].begin == 2);
}

TEST_CASE("a mutant differs in one place, and its name says which") {
  const std::vector<Mutant> mutants =
      mutants_of("int f(int a) {\n  if (a < 3) a += 1;\n  return a << 2;\n}\n");
  CHECK(has(mutants, "int f(int a) {\n  if (a <= 3) a += 1;\n  return a << 2;\n}\n"));
  CHECK(has(mutants, "int f(int a) {\n  if (a < 3) a -= 1;\n  return a << 2;\n}\n"));
  CHECK(has(mutants, "int f(int a) {\n  if (a < (3 - 1)) a += 1;\n  return a << 2;\n}\n"));
  CHECK(has(mutants, "int f(int a) {\n  if (false && a < 3) a += 1;\n  return a << 2;\n}\n"));
  CHECK(has(mutants, "int f(int a) {\n  if (a < 3 || true) a += 1;\n  return a << 2;\n}\n"));
  CHECK(has(mutants, "int f(int a) {\n  ;\n  return a << 2;\n}\n"));
  CHECK(has(mutants, "int f(int a) {\n  if (a < 3) a += 1;\n  return a >> 2;\n}\n"));
  const std::vector<std::string> names = ids(mutants);
  CHECK(std::ranges::find(names, "2:9 < => <=") != names.end());
  CHECK(std::ranges::find(names, "3:12 << => >>") != names.end());
  CHECK(std::ranges::none_of(names,
                             [](const std::string& id) { return id.find("return") != std::string::npos; }));
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(std::count(names.begin(), names.end(), names[i]) == 1);
}

TEST_CASE("what is no operator is left alone") {
  CHECK(mutants_of("const std::vector<float>& x; const auto* y;").empty());
  CHECK(mutants_of("// a < b\n").empty());
}

TEST_CASE("arguments change places, and what is declared does not") {
  CHECK(has(mutants_of("f(a, b);"), "f(b, a);"));
  CHECK_FALSE(has(mutants_of("Block<float> a, b;"), "Block<float> b, a;"));
  CHECK_FALSE(has(mutants_of("Block<float> a, b, c;"), "Block<float> a, c, b;"));
  CHECK(mutants_of("float a, b;").empty());
}

TEST_CASE("names take each other's place") {
  const std::vector<Mutant> mutants = renamed_mutants_of("return left - right;");
  CHECK(mutants.size() == 2);
  CHECK(has(mutants, "return right - right;"));
  CHECK(has(mutants, "return left - left;"));
  CHECK_FALSE(has(renamed_mutants_of("f<C>(x + C);"), "f<x>(x + C);"));
  CHECK(has(renamed_mutants_of("f<C>(x + C);"), "f<C>(C + C);"));
}

}  // namespace tinymp::test
