#include <unistd.h>

#include <kernels/numerics/tensor_core.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <sstream>

// ./learn tensor-core: what the tensor core of a GPU makes of vectors, and whether it is what was recorded.
namespace tinymp::lab {
namespace {

struct TensorCoreFlags {
  std::string gpu, format, accumulator = "f32", instruction, c;
  bool print = false;
};

/// One line: a[0] .. a[K-1] b[0] .. b[K-1] c, and d where it was recorded.
struct Vectors {
  std::vector<float> words;
  std::size_t K = 0;
  bool has_d = false;
  int line = 0;
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
  v.line = line;
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

/// One way in which a GPU may have computed the vectors.
struct CoreWay {
  kernels::TensorCore core;
  bool by_mma, use_c;

  float dot(const Vectors& v) const {
    float c = use_c ? v.c() : 0;
    if (core.accumulator == kernels::Accumulator::f16) c = kernels::round_to(kernels::Operand::fp16, c);
    return kernels::tensor_core_dot(core, v.a(), v.b(), static_cast<std::int64_t>(v.K), c);
  }
};

/// The usual way first. FP8 has several on Hopper and Blackwell; flags leave out what they contradict.
std::vector<CoreWay> ways(const TensorCoreFlags& flags, kernels::Gpu gpu, kernels::Operand operand) {
  using namespace kernels;
  const bool float8 = operand == Operand::e4m3 || operand == Operand::e5m2;
  const bool hopper = gpu == Gpu::h100 || gpu == Gpu::h200;
  const Accumulator accumulator = flags.accumulator == "f16" ? Accumulator::f16 : Accumulator::f32;
  const TensorCore native = tensor_core(gpu, operand, accumulator);
  const TensorCore mma = tensor_core(gpu, operand, accumulator, Instruction::mma_sync);
  std::vector<CoreWay> found;
  const auto add = [&](const CoreWay& way) {
    const bool instruction =
        flags.instruction.empty() || flags.instruction == (way.by_mma ? "mma" : "native");
    const bool c = flags.c.empty() || flags.c == (way.use_c ? "column" : "zero");
    if (instruction && c) found.push_back(way);
  };
  if (float8 && hopper) add({native, false, false});
  add({native, false, true});
  if (mma.as_fp16) add({mma, true, true});
  if (found.empty())
    found.push_back(flags.instruction == "mma" ? CoreWay{mma, true, flags.c != "zero"}
                                               : CoreWay{native, false, false});
  return found;
}

std::vector<Vectors> read(std::istream& in, kernels::Operand operand) {
  std::vector<Vectors> all;
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos || text[first] == '#') continue;
    all.push_back(parse_line(text, line, operand));
    if (all.back().words.size() != all[0].words.size())
      refuse(line, concat(all.back().words.size(), " numbers, but ", all[0].words.size(), " before it"));
  }
  if (all.empty()) throw UsageError("standard input holds no vectors");
  return all;
}

bool agree(float d, float expected) {  // any NaN is as good as another
  return std::bit_cast<std::uint32_t>(d) == std::bit_cast<std::uint32_t>(expected) ||
         (d != d && expected != expected);
}

std::int64_t mismatches(const CoreWay& way, const std::vector<Vectors>& all) {
  return std::ranges::count_if(all, [&](const Vectors& v) { return !agree(way.dot(v), v.d()); });
}

/// Of the ways the one that explains what was recorded, or the usual one.
CoreWay choose(const std::vector<CoreWay>& ways, const std::vector<Vectors>& all) {
  if (!all[0].has_d || ways.size() == 1) return ways[0];
  return *std::ranges::min_element(ways, {}, [&](const CoreWay& way) { return mismatches(way, all); });
}

int compare(const CoreWay& way, const std::vector<Vectors>& all, bool print) {
  std::int64_t wrong = 0;
  for (const Vectors& v : all) {
    const float d = way.dot(v);
    if (print || !v.has_d) std::cout << hex(d) << "\n";
    if (v.has_d && !agree(d, v.d()) && wrong++ < 5)
      std::cerr << "line " << v.line << ": computed " << hex(d) << ", expected " << hex(v.d()) << "\n";
  }
  if (all[0].has_d) std::cout << wrong << " mismatches of " << all.size() << "\n";
  return wrong > 0 ? 1 : 0;
}

void add_flags(CLI::App& app, TensorCoreFlags& flags) {
  app.add_option("--gpu", flags.gpu, "v100, a100, ada, h100, h200 or b200")->type_name("NAME")->required();
  app.add_option("--format", flags.format, "Of a and b: fp16, bf16, e4m3 or e5m2")
      ->type_name("NAME")
      ->required();
  app.add_option("--accumulator", flags.accumulator,
                 "Format of c and d: f32 or f16 (c is rounded to it first)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"f32", "f16"}).description(""))
      ->capture_default_str();
  app.add_option("--instruction", flags.instruction, "FP8: native (wgmma, tcgen05) or mma, see below")
      ->type_name("NAME")
      ->check(CLI::IsMember({"native", "mma"}).description(""));
  app.add_option("--c", flags.c, "Take c from its column, or zero")
      ->type_name("column|zero")
      ->check(CLI::IsMember({"column", "zero"}).description(""));
  app.add_flag("--print", flags.print, "Print d of each line; so it is where the lines hold none");
  app.footer(
      "A line holds K numbers a, K numbers b, c and perhaps the recorded d, each a binary32 pattern in 8 "
      "hex\n"
      "digits. K is free: longer sums go block by block. Lines that begin with # are passed over. With d the "
      "last\n"
      "line of the output is 'K mismatches of N', and the exit code 1 unless K is 0.\n\n"
      "FP8 goes several ways on Hopper and Blackwell. mma.sync unpacks it to FP16, which keeps more bits\n"
      "than wgmma, and adds c afterwards; recordings of wgmma began with c = 0, whatever the column says.\n"
      "Unless told, the way with the fewest mismatches counts; without d it is wgmma with c = 0 on Hopper,\n"
      "tcgen05 with c from its column on Blackwell.\n\n"
      "Example:\n"
      "  zcat h100_fp16.txt.gz | ./learn tensor-core --gpu h100 --format fp16");
}

}  // namespace

int tensor_core_command(int argc, char** argv) {
  TensorCoreFlags flags;
  CLI::App app("What a tensor core really computes.\nReads vectors from standard input, one sum a line.",
               "./learn tensor-core");
  add_flags(app, flags);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  const kernels::Gpu gpu = kernels::gpu_from_name(flags.gpu);
  const kernels::Operand operand = kernels::operand_from_name(flags.format);
  const std::vector<CoreWay> possible = ways(flags, gpu, operand);
  if (isatty(STDIN_FILENO) != 0)
    throw UsageError("vectors come from standard input: ... | ./learn tensor-core ...");
  const std::vector<Vectors> all = read(std::cin, operand);
  const CoreWay way = choose(possible, all);
  std::cerr << flags.gpu << " " << flags.format << (way.by_mma ? " by mma.sync" : "") << ": blocks of "
            << way.core.terms << " terms, " << way.core.fraction_bits << " bits after the point, c "
            << (way.use_c ? "from its column" : "is zero") << "; this model is "
            << kernels::name_of(way.core.evidence) << "\n";
  return compare(way, all, flags.print);
}

}  // namespace tinymp::lab
