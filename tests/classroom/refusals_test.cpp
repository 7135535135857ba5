#include <tests/catch.h>

#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/refusals.h>
#include <lessons/lab/classroom/sandbox.h>
#include <optional>

// What leaves its place, however it is spelled. Each spelling is shown to g++ as well: what it takes for a
// directive has to be refused, and what it does not take may stand.
namespace tinymp::test {
namespace {

using namespace classroom;
using namespace std::string_literals;

/// Whether the compiler's preprocessor puts `hit` in the place of Q behind this text. Empty: there is no g++.
std::optional<bool> defines_q(const std::string& text, const ScratchFolder& scratch) {
  write_file(scratch.path() / "a.h", text + "\nQ\n");
  const Finished finished =
      run({"g++", "-std=c++20", "-E", "-P", (scratch.path() / "a.h").string()}, {.seconds = 20});
  if (finished.code == 127) return {};
  return finished.output.find("\nhit") != std::string::npos || finished.output.starts_with("hit");
}

const std::string directives[] = {"#define Q hit",
                                  "# \t define Q hit",
                                  "\v#define Q hit",
                                  "\f#define Q hit",
                                  "\r#define Q hit",
                                  "\0#define Q hit"s,
                                  "int a;\r#define Q hit",
                                  "%:define Q hit",
                                  "%\\\n:define Q hit",
                                  "/**/ #define Q hit",
                                  "/**/#/**/define Q hit /**/",
                                  "/* a */ /* b */ # /* c */ define Q hit",
                                  "/* a\nb */ /* c\n*/ #define Q hit",
                                  "/\\\n* a *\\\n/ #define Q hit",
                                  "// /*\n#define Q hit",
                                  "/\\\n/ c\n#define Q hit",
                                  "\"/*\"\n#define Q hit\n\"*/\"",
                                  "'\n#define Q hit",
                                  "1'000'\"/*\"\n#define Q hit",
                                  "\\\n#define Q hit",
                                  "#\\\ndefine Q hit",
                                  "#\\ \ndefine Q hit",
                                  "#\\\t\ndefine Q hit",
                                  "#\\\v\ndefine Q hit",
                                  "#\\\f\ndefine Q hit",
                                  "#\\\r\ndefine Q hit",
                                  "#\\ \v\f\t\ndefine Q hit",
                                  "#\\\rdefine Q hit",
                                  "#de\\\nfine Q hit",
                                  "\"a\\\n\"\n#define Q hit",
                                  "$1'0 /* ')\n#define Q hit\n// */"};

const std::string no_directives[] = {"// #define Q hit",          "/*\n#define Q hit\n*/",
                                     "// a \\\n#define Q hit",    "\"\\\n#define Q hit\"",
                                     "?\?=define Q hit",          "int a; /* \" */ int b; // '",
                                     "// a \\ \v\n#define Q hit", "int a = 1'000; char c = '\"'; int b = 2;"};

}  // namespace

TEST_CASE("refusals: what g++ takes for a directive is refused, in 31 spellings") {
  const ScratchFolder scratch("refusals");
  for (const std::string& text : directives) {
    CAPTURE(text);
    CHECK_FALSE(why_refused(text).empty());
    const std::optional<bool> defines = defines_q(text, scratch);
    if (!defines) SKIP_TEST("no g++");
    CHECK(*defines);
  }
}

TEST_CASE("refusals: assembly, and names that some take for literals, are refused") {
  for (const char* const text : {"asm(\".weak f\");", "__asm__ volatile(\"nop\");", "int $1 = 0;",
                                 "[[x::y(1\\u00e9'0 )]] int a; } namespace q { int b; //')"}) {
    CAPTURE(text);
    CHECK_FALSE(why_refused(text).empty());
  }
  CHECK(why_refused("// $1 and \\u00e9 and asm\nconst char* s = \"$ \\n asm\";").empty());
}

TEST_CASE("refusals: words of the linker, and of the kernels that imitate a GPU, are refused") {
  for (const char* const text :
       {"extern \"C\" void f();", "[[gnu::weak]] void f();", "__attribute__((__weakref__(\"f\"))) int g();",
        "__attribute__((alias(\"f\"))) int g();", "int g() __attribute__((ifunc(\"f\")));",
        "void f() { emu::fill(); }", "void f() { cuda::fill(); }", "using namespace emu;",
        "using namespace kernels::cuda;", "namespace [[maybe_unused]] std {}"}) {
    CAPTURE(text);
    CHECK_FALSE(why_refused(text).empty());
  }
  for (const char* const text :
       {"int weakest; const char* s = \"extern weak emu\";  // cuda",
        "bool weak = x.device() == Device::cuda;", "float alias = cuda ? 1 : a[b[0]];",
        "using namespace std;", "std::vector<::half> a;"}) {
    CAPTURE(text);
    CHECK(why_refused(text) == "");
  }
}

TEST_CASE("refusals: names of compilers and their headers are refused, but for those of kernels") {
  for (const char* const text :
       {"__CONCAT(as, m)(\"nop\");", "__END_DECLS", "void __REDIRECT(f, (), g);", "_Static_assert(1, \"\");",
        "__attribute__((unused)) int a;", "int a = __builtin_fork();", "auto h = __builtin_inff16();",
        "[[gnu::section(\".x\\n.set a, b\")]] int a;", "float [[gnu::mode(HF)]] h;",
        "[[using gnu: target(\"f16c\")]] void f();", "[[maybe_unused, gnu::weak]] int a;"}) {
    CAPTURE(text);
    CHECK_FALSE(why_refused(text).empty());
  }
  for (const char* const text :
       {"__shared__ float tile[16];", "__syncthreads();", "_n = __builtin_clz(a_);",
        "unsigned __int128 wide;", "[[maybe_unused]] int a = b[c[0]];",
        "[[gnu::always_inline, nodiscard]] inline int f() { return [] { return 1; }(); }",
        "double d = __builtin_ldexp(1, 2);"}) {
    CAPTURE(text);
    CHECK(why_refused(text) == "");
  }
}

TEST_CASE("refusals: what g++ takes for none may stand") {
  const ScratchFolder scratch("refusals");
  for (const std::string& text : no_directives) {
    CAPTURE(text);
    CHECK(why_refused(text) == "");
    const std::optional<bool> defines = defines_q(text, scratch);
    if (!defines) SKIP_TEST("no g++");
    CHECK_FALSE(*defines);
  }
}

TEST_CASE("refusals: brackets and words that a splice, a comment or a literal would hide") {
  for (const std::string& text : {"// \\\v\n{\n}\n"s,
                                  "}"s,
                                  "// a \\\v\nx /*\n} // */"s,
                                  "\"a\\\nb\" }"s,
                                  "'{' }"s,
                                  "1'0; '{'; }"s,
                                  "#pragma unroll /*\n\" */ } namespace x { /* \" */"s,
                                  "R\"(})\" x"s,
                                  "u8R\"x(})x\""s,
                                  "int a<%1%>;"s,
                                  "<:<:gnu::weak:>:> int a;"s,
                                  "[[x]] int a<:2];"s,
                                  "_Pragma(\"GCC optimize(3)\") int a;"s,
                                  "import std;"s,
                                  "  module x;"s,
                                  "module;"s,
                                  "import <vector>;"s,
                                  "import \"a.h\";"s,
                                  "module : private;"s,
                                  "/* */ import\n std;"s,
                                  "export int a;"s,
                                  "export import std;"s,
                                  "namespace x {}"s,
                                  "#pragma GCC poison x"s,
                                  "#pragma unroll 4 x"s}) {
    CAPTURE(text);
    CHECK_FALSE(why_refused(text).empty());
  }
  CHECK(why_refused("#pragma unroll\n#pragma unroll (4)\nint f() { return 1; }\r\n") == "");
  CHECK(why_refused(
            "int module = 1, import = 2;\nmodule = import;\nimport += 3;\n  module[0] = import(1);\n") == "");
  CHECK(notable_words("sys\\\vx\ntem") == std::vector<std::string>{});
  CHECK(notable_words("sys\\ \v\ntem(1); // fork\n\"abort\"") == std::vector<std::string>{"system"});
  CHECK(notable_words("// /*\nfork(); /* */") == std::vector<std::string>{"fork"});
}

}  // namespace tinymp::test
