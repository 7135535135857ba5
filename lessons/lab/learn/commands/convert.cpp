#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/number_lines.h>
#include <tinymp/numeric/float8_e8m0.h>
#include <tinymp/numeric/rounded.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <type_traits>

// ./learn convert: what a float becomes in a narrow format, in each way of rounding.
namespace tinymp::lab {
namespace {

struct ConvertFlags {
  std::string to, rounding = "nearest";
  bool saturate = false;
};

/// A number in a narrow format.
struct Narrow {
  std::uint32_t bits;
  int digits;  ///< of `bits`, in hex
  float value;
};

template <class T>
Narrow narrow(T x) {
  return {x.bits(), std::is_same_v<T, float4_e2m1> ? 1 : 2 * static_cast<int>(sizeof(T)),
          static_cast<float>(x)};
}

Narrow converted_to(const ConvertFlags& flags, float x, std::uint32_t random) {
  const Rounding mode = flags.rounding == "nearest" ? Rounding::nearest_even
                        : flags.rounding == "zero"  ? Rounding::toward_zero
                                                    : Rounding::stochastic;
  const Overflow overflow = flags.saturate ? Overflow::saturate : Overflow::infinity;
  if (flags.to == "f16") return narrow(rounded<half>(x, mode, random, overflow));
  if (flags.to == "bf16") return narrow(rounded<bfloat16>(x, mode, random, overflow));
  if (flags.to == "e4m3") return narrow(rounded<float8_e4m3>(x, mode, random, overflow));
  if (flags.to == "e5m2") return narrow(rounded<float8_e5m2>(x, mode, random, overflow));
  if (flags.to == "e2m1") return narrow(rounded<float4_e2m1>(x, mode, random, overflow));
  return narrow(mode == Rounding::toward_zero ? e8m0_rounded_down(x) : e8m0_rounded_up(x));
}

void add_flags(CLI::App& app, ConvertFlags& flags) {
  app.add_option("--to", flags.to, "f16, bf16, e4m3, e5m2, e2m1 or e8m0")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"f16", "bf16", "e4m3", "e5m2", "e2m1", "e8m0"}).description(""))
      ->required();
  app.add_option("--rounding", flags.rounding, "nearest, zero or stochastic, see below")
      ->type_name("MODE")
      ->check(CLI::IsMember({"nearest", "zero", "stochastic"}).description(""))
      ->capture_default_str();
  app.add_flag("--saturate", flags.saturate, "The largest number in place of infinity and overflow");
  app.footer(
      "A line holds one FP32 number: a decimal (0.1), a float in hex (0x1.8p3) or its\n"
      "bits, 0x and eight digits (0x3dcccccd). For each the program prints the bits of\n"
      "the result and its value.\n\n"
      "nearest      the nearer neighbour; in the middle, the one whose last bit is 0\n"
      "zero         the one toward zero; only infinity overflows\n"
      "stochastic   a line holds a second number, a random integer R from 0 to\n"
      "             4294967295. With lo and hi the neighbours of |x|, the result is hi\n"
      "             when R < floor(2^32 (|x| - lo) / (hi - lo))\n\n"
      "Overflow gives infinity, in e4m3 NaN; NaN has no sign. e2m1 always saturates, and\n"
      "NaN becomes 0x7.\n"
      "e8m0 is a power of two without a sign: nearest takes the one above, zero the one\n"
      "below, and stochastic is refused.\n\n"
      "Example:\n"
      "  printf '0.1 12345\\n' | ./learn convert --to e4m3 --rounding stochastic");
}

}  // namespace

int convert_command(int argc, char** argv) {
  ConvertFlags flags;
  CLI::App app("What a float becomes in a narrow format.\nReads numbers from standard input, one a line.",
               "./learn convert");
  add_flags(app, flags);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  const bool stochastic = flags.rounding == "stochastic";
  if (stochastic && flags.to == "e8m0")
    throw UsageError("e8m0 has no stochastic rounding: a scale is rounded up (nearest) or down (zero)");
  std::string out;  // printed when all lines were right
  for_each_number_line("printf '0.1\\n' | ./learn convert ...", [&](const NumberLine& line) {
    line.expect_words(stochastic ? 2 : 1, stochastic
                                              ? "a number and a random integer"
                                              : "one number; a second one belongs to --rounding stochastic");
    const float x = float_in(line, line.words[0]);
    const std::uint32_t random = stochastic ? random_in(line, line.words[1]) : 0;
    const Narrow result = converted_to(flags, x, random);
    char bits[16];
    std::snprintf(bits, sizeof bits, "0x%0*x ", result.digits, static_cast<unsigned>(result.bits));
    out += bits + text_of(result.value) + "\n";
  });
  std::cout << out;
  return 0;
}

}  // namespace tinymp::lab
