#include <unistd.h>

#include <kernels/numerics/tensor_core.h>
#include <lessons/learn/command_line.h>
#include <lessons/learn/commands/commands.h>
#include <CLI/CLI.hpp>
#include <bit>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <sstream>

// ./learn tensor-core: what the tensor core of a GPU makes of vectors, and whether it is what was recorded.
namespace tinymp::lab {
namespace {

struct Flags {
  std::string gpu, format, accumulate = "f32", instruction = "native", accumulator;
  bool print = false;
};

/// One line: a[0] .. a[K-1] b[0] .. b[K-1] c, and d where it was recorded.
struct Vectors {
  std::vector<float> words;
  std::size_t K = 0;
  bool has_d = false;
  const float* a() const { return words.data(); }
  const float* b() const { return words.data() + K; }
  float c() const { return words[2 * K]; }
  float d() const { return words[2 * K + 1]; }
};

[[noreturn]] void refuse(int line, const std::string& what) {
  throw UsageError(concat("line ", line, ": ", what));
}

std::string hex(float x) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", std::bit_cast<std::uint32_t>(x));
  return text;
}

float number(const std::string& word, int line) {
  std::uint32_t bits = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, failed] = std::from_chars(word.data(), end, bits, 16);
  if (word.size() != 8 || failed != std::errc() || stop != end)
    refuse(line, concat("'", word, "' is not a binary32 pattern of 8 hex digits"));
  return std::bit_cast<float>(bits);
}

Vectors parse_line(const std::string& text, int line, kernels::Operand operand) {
  Vectors v;
  std::istringstream words(text);
  for (std::string word; words >> word;) v.words.push_back(number(word, line));
  if (v.words.size() < 3) refuse(line, "a line holds a, b (of one length), c, and perhaps d");
  v.K = (v.words.size() - 1) / 2;
  v.has_d = v.words.size() % 2 == 0;
  for (std::size_t i = 0; i < 2 * v.K; ++i) {
    const float x = v.words[i];
    if (x == x && kernels::round_to(operand, x) != x)
      refuse(line, concat(i < v.K ? "a[" : "b[", i % v.K, "] = ", hex(x), " (", x, ") is not a number of ",
                          kernels::name_of(operand)));
  }
  return v;
}

/// Reads vectors, computes, compares.
class Comparison {
 public:
  Comparison(const Flags& flags, kernels::TensorCore core, kernels::Operand operand, bool use_c)
      : flags_(flags), core_(core), operand_(operand), use_c_(use_c) {}

  int run(std::istream& in) {
    std::string text;
    while (std::getline(in, text)) {
      ++line_;
      const std::size_t first = text.find_first_not_of(" \t\r");
      if (first != std::string::npos && text[first] != '#') take(parse_line(text, line_, operand_));
    }
    if (count_ == 0) throw UsageError("standard input holds no vectors");
    if (has_d_) std::cout << wrong_ << " mismatches of " << count_ << "\n";
    return wrong_ > 0 ? 1 : 0;
  }

 private:
  void take(const Vectors& v) {
    if (count_++ == 0) {
      length_ = v.words.size();
      has_d_ = v.has_d;
    }
    if (v.words.size() != length_)
      refuse(line_, concat(v.words.size(), " numbers, but ", length_, " before it"));
    float c = use_c_ ? v.c() : 0;
    if (core_.accumulator == kernels::Accumulator::f16) c = kernels::round_to(kernels::Operand::fp16, c);
    const float d = kernels::tensor_core_dot(core_, v.a(), v.b(), static_cast<std::int64_t>(v.K), c);
    if (flags_.print || !has_d_) std::cout << hex(d) << "\n";
    if (has_d_) compare(d, v.d());
  }

  void compare(float d, float expected) {
    const bool same = std::bit_cast<std::uint32_t>(d) == std::bit_cast<std::uint32_t>(expected);
    if (same || (d != d && expected != expected)) return;  // any NaN is as good as another
    if (wrong_++ < 5)
      std::cerr << "line " << line_ << ": computed " << hex(d) << ", expected " << hex(expected) << "\n";
  }

  const Flags& flags_;
  kernels::TensorCore core_;
  kernels::Operand operand_;
  bool use_c_;
  int line_ = 0;
  std::int64_t count_ = 0, wrong_ = 0;
  std::size_t length_ = 0;
  bool has_d_ = false;
};

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--gpu", flags.gpu, "v100, a100, ada, h100, h200 or b200")->type_name("NAME")->required();
  app.add_option("--format", flags.format, "Of a and b: fp16, bf16, e4m3 or e5m2")
      ->type_name("NAME")
      ->required();
  app.add_option("--accumulate", flags.accumulate, "Format of c and d: f32 or f16 (c is rounded to it first)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"f32", "f16"}).description(""))
      ->capture_default_str();
  app.add_option("--instruction", flags.instruction, "native (wgmma, tcgen05) or mma: FP8 differs, see below")
      ->type_name("NAME")
      ->check(CLI::IsMember({"native", "mma"}).description(""))
      ->capture_default_str();
  app.add_option("--c", flags.accumulator, "Take c from its column, or zero")
      ->type_name("column|zero")
      ->check(CLI::IsMember({"column", "zero"}).description(""));
  app.add_flag("--print", flags.print, "Print d of each line; so it is where the lines hold none");
  app.footer(
      "A line holds K numbers a, K numbers b, c and perhaps the recorded d, each a binary32 pattern in 8 "
      "hex\n"
      "digits. K is free: longer sums go block by block. Lines that begin with # are passed over. With d the "
      "last\n"
      "line of the output is 'K mismatches of N', and the exit code 1 unless K is 0.\n\n"
      "FP8 on Hopper: the published recordings of wgmma began with an accumulator of zero, whatever the "
      "column\n"
      "says, so --c zero is usual there. mma.sync sums the products with more bits and adds c afterwards.\n\n"
      "Example:\n"
      "  zcat h100_fp16.txt.gz | ./learn tensor-core --gpu h100 --format fp16");
}

}  // namespace

int tensor_core_command(int argc, char** argv) {
  using namespace kernels;
  Flags flags;
  CLI::App app("What a tensor core really computes.\nReads vectors from standard input, one sum a line.",
               "./learn tensor-core");
  add_flags(app, flags);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;

  const Gpu gpu = gpu_from_name(flags.gpu);
  const Operand operand = operand_from_name(flags.format);
  const bool by_mma = flags.instruction == "mma", hopper = gpu == Gpu::h100 || gpu == Gpu::h200;
  const TensorCore core =
      tensor_core(gpu, operand, flags.accumulate == "f16" ? Accumulator::f16 : Accumulator::f32,
                  by_mma ? Instruction::mma_sync : Instruction::native);
  if (flags.accumulator.empty()) {
    const bool recorded_from_zero =
        hopper && !by_mma && (operand == Operand::e4m3 || operand == Operand::e5m2);
    flags.accumulator = recorded_from_zero ? "zero" : "column";
  }
  if (isatty(STDIN_FILENO) != 0)
    throw UsageError("vectors come from standard input: ... | ./learn tensor-core ...");
  std::cerr << name_of(gpu) << " " << name_of(operand) << ": blocks of " << core.terms << " terms, "
            << core.fraction_bits << " bits after the point, c from "
            << (flags.accumulator == "zero" ? "zero" : "its column") << " (this model is "
            << name_of(core.evidence) << ")\n";
  return Comparison(flags, core, operand, flags.accumulator == "column").run(std::cin);
}

}  // namespace tinymp::lab
