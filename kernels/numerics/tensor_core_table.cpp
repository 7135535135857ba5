#include <kernels/numerics/tensor_core.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/float8.h>
#include <tinymp/numeric/half.h>
#include <array>

/// Which GPU has which tensor core.
namespace tinymp::kernels {
namespace {

struct Row {
  Gpu gpu;
  Operand operand;
  int terms, fraction_bits;
  Evidence evidence;
};

// FP8 keeps 13 bits on Ada and Hopper; the blocks recorded on the H100 begin with c = 0, so that c counts as
// a term of theirs by analogy with Ada. Of Blackwell only mma.sync has been looked at with FP8.
constexpr std::array<Row, 19> table{{
    {Gpu::v100, Operand::fp16, 4, 23, Evidence::published},   //
    {Gpu::a100, Operand::fp16, 8, 24, Evidence::recorded},    //
    {Gpu::a100, Operand::bf16, 8, 24, Evidence::published},   //
    {Gpu::ada, Operand::fp16, 8, 24, Evidence::published},    //
    {Gpu::ada, Operand::bf16, 8, 24, Evidence::published},    //
    {Gpu::ada, Operand::e4m3, 16, 13, Evidence::published},   //
    {Gpu::ada, Operand::e5m2, 16, 13, Evidence::published},   //
    {Gpu::h100, Operand::fp16, 16, 25, Evidence::recorded},   //
    {Gpu::h100, Operand::bf16, 16, 25, Evidence::recorded},   //
    {Gpu::h100, Operand::e4m3, 32, 13, Evidence::recorded},   //
    {Gpu::h100, Operand::e5m2, 32, 13, Evidence::published},  //
    {Gpu::h200, Operand::fp16, 16, 25, Evidence::published},  //
    {Gpu::h200, Operand::bf16, 16, 25, Evidence::published},  //
    {Gpu::h200, Operand::e4m3, 32, 13, Evidence::published},  //
    {Gpu::h200, Operand::e5m2, 32, 13, Evidence::published},  //
    {Gpu::b200, Operand::fp16, 16, 25, Evidence::published},  //
    {Gpu::b200, Operand::bf16, 16, 25, Evidence::published},  //
    {Gpu::b200, Operand::e4m3, 32, 25, Evidence::assumed},    //
    {Gpu::b200, Operand::e5m2, 32, 25, Evidence::assumed},    //
}};

constexpr std::array<std::string_view, 6> gpus = {"v100", "a100", "ada", "h100", "h200", "b200"};
constexpr std::array<std::string_view, 4> operands = {"fp16", "bf16", "e4m3", "e5m2"};

bool is_float8(Operand operand) { return operand == Operand::e4m3 || operand == Operand::e5m2; }

int smallest_exponent(Operand operand) {
  switch (operand) {
    case Operand::bf16:
      return bfloat16::Layout::smallest_exponent;
    case Operand::e4m3:
      return float8_e4m3::Layout::smallest_exponent;
    case Operand::fp16:
    case Operand::e5m2:
      break;
  }
  return float8_e5m2::Layout::smallest_exponent;  // the same 5 bits of exponent
}

template <class Names>
std::string list(const Names& names) {
  std::string text;
  for (const std::string_view name : names) text += concat(text.empty() ? "" : ", ", name);
  return text;
}

template <class Enum, class Names>
Enum find(std::string_view name, const Names& names, std::string_view what) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  throw UsageError(concat("\"", name, "\" is not ", what, "; choose one of ", list(names)));
}

std::string operands_of(Gpu gpu) {
  std::string text;
  for (const Row& row : table)
    if (row.gpu == gpu) text += concat(text.empty() ? "" : ", ", name_of(row.operand));
  return text;
}

}  // namespace

TensorCore tensor_core(Gpu gpu, Operand operand, Accumulator accumulator, Instruction instruction) {
  if (accumulator == Accumulator::f16 && operand == Operand::bf16) {
    throw UsageError(
        "tensor cores sum bf16 products in FP32 only; FP16 accumulators go with fp16, e4m3 and e5m2");
  }
  for (const Row& row : table) {
    if (row.gpu != gpu || row.operand != operand) continue;
    const int smallest = smallest_exponent(operand), of_fp16 = smallest_exponent(Operand::fp16);
    TensorCore core{row.terms, row.fraction_bits, smallest, accumulator, false, row.evidence, smallest};
    if (accumulator == Accumulator::f16 && core.evidence == Evidence::recorded)
      core.evidence = Evidence::published;
    if (instruction == Instruction::native || !is_float8(operand) || gpu == Gpu::ada) return core;
    core = {16, 25, of_fp16, accumulator, true, Evidence::assumed, of_fp16};
    const bool seen = operand == Operand::e4m3 && (accumulator == Accumulator::f32 || gpu != Gpu::b200);
    if (seen) core.evidence = Evidence::published;
    return core;
  }
  throw UsageError(concat("the tensor cores of ", name_of(gpu), " do not take ", name_of(operand),
                          "; they take ", operands_of(gpu)));
}

TensorCore tensor_core_of_mix(Gpu gpu, Operand a, Operand b, Instruction instruction) {
  TensorCore core = tensor_core(gpu, a, Accumulator::f32, instruction);
  if (a == b) return core;
  if (!is_float8(a) || !is_float8(b)) {
    throw UsageError(concat("no tensor core multiplies ", name_of(a), " by ", name_of(b),
                            "; operands have one format, or are e4m3 and e5m2"));
  }
  core.smallest_exponent_of_b = tensor_core(gpu, b, Accumulator::f32, instruction).smallest_exponent;
  core.evidence = Evidence::assumed;
  return core;
}

std::string_view name_of(Gpu gpu) { return gpus[static_cast<std::size_t>(gpu)]; }
std::string_view name_of(Operand operand) { return operands[static_cast<std::size_t>(operand)]; }
std::string_view name_of(Evidence evidence) {
  constexpr std::array<std::string_view, 3> names = {"recorded", "published", "assumed"};
  return names[static_cast<std::size_t>(evidence)];
}

Gpu gpu_from_name(std::string_view name) { return find<Gpu>(name, gpus, "a GPU with a model"); }
Operand operand_from_name(std::string_view name) {
  return find<Operand>(name, operands, "an operand format");
}

float round_to(Operand operand, float x) {
  switch (operand) {
    case Operand::fp16:
      return static_cast<float>(half(x));
    case Operand::bf16:
      return static_cast<float>(bfloat16(x));
    case Operand::e4m3:
      return static_cast<float>(float8_e4m3(x, Overflow::infinity));
    case Operand::e5m2:
      break;
  }
  return static_cast<float>(float8_e5m2(x, Overflow::infinity));
}

}  // namespace tinymp::kernels
