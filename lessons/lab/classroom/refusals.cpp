#include <fmt/format.h>
#include <lessons/lab/classroom/refusals.h>
#include <lessons/lab/classroom/source_text.h>
#include <lessons/lab/classroom/tokens.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <set>
#include <sstream>

namespace tinymp::classroom {
namespace {

/// Whether the line is #pragma unroll, perhaps with a number, and nothing else. Kernels may hold it.
bool is_unroll(const std::string& line) {
  std::istringstream words(line.substr(1));
  std::string pragma, unroll, rest;
  words >> pragma >> unroll;
  std::getline(words, rest);
  return pragma == "pragma" && unroll == "unroll" &&
         rest.find_first_not_of(" \t\v\f\r0123456789()") == rest.npos;
}

/// Whether the line begins with export, or with import or module in the sense of [cpp.pre]: a name, text, :,
/// ; or < follows on the line, or nothing. Before another sign, import and module are variables.
bool is_of_modules(const std::vector<Token>& line) {
  if (line.empty()) return false;
  if (line[0].text == "export") return true;
  if (line[0].text != "import" && line[0].text != "module") return false;
  if (line.size() == 1 || line[1].kind != Token::Kind::sign) return true;
  return line[1].text == ":" || line[1].text == ";" || line[1].text.starts_with('<');
}

/// Returns the first line that a preprocessor would act on; empty: there is none. `text` holds no comments.
/// Harmless lines of this kind are removed from it.
std::string directive_in(std::string& text) {
  std::istringstream lines(text);
  std::string line, others;
  while (std::getline(lines, line)) {
    const std::size_t at = std::min(line.find_first_not_of(" \t\v\f\r"), line.size());
    const std::string from_there = line.substr(at);
    const bool sign = from_there.starts_with('#') || from_there.starts_with("%:");
    if (sign && !is_unroll(from_there)) return from_there;
    if (is_of_modules(tokens_of(from_there))) return from_there;
    others += sign ? "\n" : line + "\n";
  }
  text = others;
  return "";
}

/// Returns another spelling of a bracket, or a form of text that could hide one; empty: there is none.
std::string other_spelling(const std::string& text) {
  for (const char* const other : {"<%", "%>", ":>"})
    if (text.find(other) != std::string::npos) return other;
  for (std::size_t at = 0; (at = text.find("<:", at)) != text.npos; ++at) {  // [, but not in <::half>
    const std::string next = text.substr(at + 2, 2);
    if (next.empty() || next[0] != ':' || next == "::" || next == ":>") return "<:";
  }
  const std::vector<Token> tokens = tokens_of(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view name = tokens[i].text;
    const bool raw = name == "R" || name == "u8R" || name == "uR" || name == "UR" || name == "LR";
    if (raw && text.substr(tokens[i].end(), 1) == "\"") return std::string(name) + "\"";
    if (name == "_Pragma" || name == "__pragma") return std::string(name);
  }
  return "";
}

constexpr std::string_view builtin = "__builtin_";

/// `words` has a space on either side of each word.
bool is_one_of(std::string_view words, std::string_view word) {
  return words.find(concat(" ", word, " ")) != words.npos;
}

/// Whether the word is a name reserved for compilers and their headers. The headers included above every
/// exercise define macros under such names: __CONCAT(as, m) is assembly, __END_DECLS a bracket. Names that
/// kernels are written with are allowed.
bool is_reserved(std::string_view word) {
  constexpr std::string_view of_kernels =
      " __global__ __device__ __host__ __shared__ __align__ __restrict__ __restrict __forceinline__"
      " __launch_bounds__ __syncthreads __syncwarp __shfl_sync __shfl_up_sync __shfl_down_sync"
      " __shfl_xor_sync __ballot_sync __any_sync __all_sync __popc __clz __ffs __half __half2"
      " __nv_bfloat16 __half2float __float2half __float2bfloat16 __bfloat162float __pipeline_commit"
      " __pipeline_wait_prior __pipeline_memcpy_async __func__ __int128 __int128_t __uint128_t ";
  const bool reserved =
      word.size() > 1 && word[0] == '_' && (word[1] == '_' || (word[1] >= 'A' && word[1] <= 'Z'));
  return reserved && !word.starts_with(builtin) && !is_one_of(of_kernels, word);
}

/// Whether the word is a function of the compiler that is no arithmetic, such as its own half, instructions
/// of the processor, fork.
bool is_other_builtin(std::string_view word) {
  constexpr std::string_view of_numbers =
      " fabs fabsf frexp frexpf ldexp ldexpf nearbyint nearbyintf rint rintf floor floorf ceil ceilf trunc"
      " truncf sqrt sqrtf fma fmaf fmax fmaxf fmin fminf copysign copysignf isnan isinf isfinite signbit nan"
      " nanf inf inff huge_val huge_valf clz clzl clzll ctz ctzl ctzll ffs popcount popcountl popcountll"
      " bit_cast bswap16 bswap32 bswap64 memcpy memset expect unreachable prefetch ";
  return word.starts_with(builtin) && !is_one_of(of_numbers, word.substr(builtin.size()));
}

using Tokens = std::vector<Token>;

std::string_view text_at(const Tokens& tokens, std::size_t i) {
  return i < tokens.size() ? tokens[i].text : std::string_view();
}

/// Whether the i-th token names a namespace that holds the same kernels once more. Device::cuda, and a
/// variable of that name, are allowed.
bool names_an_executor(const Tokens& tokens, std::size_t i) {
  if (tokens[i].text != "emu" && tokens[i].text != "cuda") return false;
  const std::string_view before = text_at(tokens, i - 1);
  if (before == "::" && text_at(tokens, i - 2) == "Device") return false;
  return before == "::" || before == "namespace" || text_at(tokens, i + 1) == "::";
}

/// Returns a word inside [[...]], which begins at the i-th token, that belongs to no ordinary attribute. g++
/// copies the name of a section into the assembly; other attributes change how a name is linked, or a type.
std::string odd_attribute(const Tokens& tokens, std::size_t i) {
  constexpr std::string_view ordinary =
      " maybe_unused nodiscard likely unlikely fallthrough noreturn no_unique_address gnu always_inline"
      " noinline flatten const pure hot cold :: , ( ) [ ";
  if (tokens[i].text != "[" || text_at(tokens, i + 1) != "[") return "";
  for (; i < tokens.size() && tokens[i].text != "]"; ++i)
    if (!is_one_of(ordinary, tokens[i].text)) return std::string(tokens[i].text.substr(0, 40));
  return "";
}

/// Returns why the i-th word is refused; empty: it is allowed. With such a word a text could take the
/// library's own solution, from the linker or from the kernels that imitate a GPU.
std::string why_word_refused(const Tokens& tokens, std::size_t i, const std::vector<std::string>& without) {
  const std::string_view word = tokens[i].text;
  for (const char* const assembly : {"asm", "__asm", "__asm__"})
    if (word == assembly) return "It holds assembly, which reaches into what it is linked with.";
  if (word == "extern")
    return "It holds extern, which reaches into what it is linked with; no exercise needs it.";
  if (const std::string odd = odd_attribute(tokens, i); !odd.empty())
    return concat("It holds the attribute ", odd, "; no exercise needs it.");
  if (names_an_executor(tokens, i))
    return concat("It names ", word, ", where the same kernels are written once more: write your own.");
  if (std::ranges::count(without, word) != 0)
    return concat("It names ", word, ", which computes the answer: write your own.");
  if (is_other_builtin(word))
    return concat("It holds ", word, ", a function of the compiler; no exercise needs it.");
  return is_reserved(word)
             ? concat("It holds ", word,
                      ", a name of compilers and their headers, whose macros can write what may "
                      "not stand here; no exercise needs it.")
             : "";
}

}  // namespace

std::string why_refused(std::string_view text, const std::vector<std::string>& without) {
  if (const std::size_t at = odd_character(text); at != text.npos)
    return fmt::format("It holds the control character 0x{:02x}, which some take for the end of a line.",
                       static_cast<unsigned char>(text[at]));
  std::string seen = without_comments(spliced(text));
  // Compilers read $1'0 and 1\u00e9'0 as a name and a number. Other readers take the quote for the begin of a
  // literal that hides the rest.
  if (seen.find_first_of("$\\") != seen.npos)
    return "It holds a $ or a backslash outside of a literal, which some take for part of a name.";
  if (const std::string line = directive_in(seen); !line.empty())
    return concat("It holds a line of the preprocessor, ", line.substr(0, 40),
                  ": such lines reach beyond the exercise. Take it out: what is needed is included above.");
  if (const std::string other = other_spelling(seen); !other.empty())
    return concat("It holds ", other,
                  ", another way to write brackets, text or directives, which hides them.");
  const Tokens tokens = tokens_of(seen);
  int depth = 0;
  bool names_a_space = false;  // [[...]] after namespace is refused, too
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    if (names_a_space && tokens[i].kind == Token::Kind::name)
      return concat("It opens a namespace, ", word, ": the exercise has its place already.");
    if (const std::string why = why_word_refused(tokens, i, without); !why.empty()) return why;
    names_a_space =
        (word == "namespace" && text_at(tokens, i - 1) != "using") || (names_a_space && word == "[");
    if (word == "{") ++depth;
    if (word == "}" && --depth < 0) return "It closes a bracket } that it did not open.";
  }
  return "";
}

std::vector<std::string> notable_words(std::string_view text) {
  static const std::set<std::string_view> notable = {
      "asm",     "__asm__", "__asm",  "__attribute__", "__attribute", "gnu",   "extern",  "constructor",
      "main",    "exit",    "_exit",  "_Exit",         "abort",       "fork",  "system",  "popen",
      "syscall", "write",   "dlsym",  "Judge",         "judge",       "check", "_Pragma", "friend",
      "export",  "module",  "import", "dprintf",       "quick_exit",  "ifunc"};
  const std::string seen = without_comments(spliced(text));
  std::set<std::string> found;
  for (const Token& token : tokens_of(seen))
    if (token.kind == Token::Kind::name && notable.contains(token.text)) found.emplace(token.text);
  return {found.begin(), found.end()};
}

}  // namespace tinymp::classroom
