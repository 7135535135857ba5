#include <lessons/lab/bench/limits.h>
#include <tinymp/base/error.h>
#include <array>
#include <string_view>

namespace tinymp::kernels::bench {
namespace {

/// The peak that NVIDIA promises at boost clock for FP16 and BF16 operands. Sheets that count skipped zeros
/// give twice as much.
struct Card {
  std::string_view name;  ///< the driver's name for it; more may follow after a space or hyphen
  double f32_sums, f16_sums;
  std::string_view sheet;
};
// The first card that matches counts.
constexpr std::array<Card, 16> cards{{
    {"NVIDIA H100 PCIe", 756, 756, "NVIDIA H100 data sheet"},
    {"NVIDIA H100 NVL", 835, 835, "NVIDIA H100 data sheet"},
    {"NVIDIA H100", 989, 989, "NVIDIA H100 data sheet"},
    {"NVIDIA H200 NVL", 835, 835, "NVIDIA H200 data sheet"},
    {"NVIDIA H200", 989, 989, "NVIDIA H200 data sheet"},
    {"NVIDIA B200", 2250, 2250, "NVIDIA DGX B200 data sheet"},
    {"NVIDIA A100", 312, 312, "NVIDIA A100 data sheet"},
    {"NVIDIA A30", 165, 165, "NVIDIA A30 data sheet"},
    {"NVIDIA A10", 125, 125, "NVIDIA A10 data sheet"},
    {"NVIDIA L40S", 362, 362, "NVIDIA L40S data sheet"},
    {"NVIDIA L4", 121, 121, "NVIDIA L4 data sheet"},
    {"NVIDIA GeForce RTX 4090", 165.2, 330.3, "NVIDIA Ada GPU architecture white paper"},
    {"NVIDIA GeForce RTX 3090", 71, 142, "NVIDIA Ampere GA102 GPU architecture white paper"},
    {"Tesla T4", 65, 65, "NVIDIA T4 data sheet"},
    {"Tesla V100-PCIE", 112, 112, "NVIDIA V100 data sheet"},
    {"Tesla V100", 125, 125, "NVIDIA V100 data sheet"},
}};

/// Multiply-adds that one SM begins in each cycle.
struct Rate {
  int architecture;
  int tensor, f32;
};
// CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions", and the white papers of the
// architectures.
constexpr std::array<Rate, 8> rates{{{70, 512, 64},
                                     {75, 512, 64},
                                     {80, 1024, 64},
                                     {86, 512, 128},
                                     {89, 512, 128},
                                     {90, 2048, 128},
                                     {100, 4096, 128},
                                     {120, 512, 128}}};

bool is(std::string_view name, std::string_view card) {
  if (!name.starts_with(card) || name.find(" MIG ") != name.npos) return false;  // a slice has less
  name.remove_prefix(card.size());
  return name.empty() || name.front() == ' ' || name.front() == '-';
}

}  // namespace

Limit limit_of(const Machine& machine, Format format, Sums sums) {
  if (machine.emulated) return {0, "an emulated GPU has none"};
  if (format != Format::f32) {
    for (const Card& card : cards) {
      if (!is(machine.name, card.name)) continue;
      return {sums == Sums::f32 ? card.f32_sums : card.f16_sums, std::string(card.sheet)};
    }
  }
  for (const Rate& rate : rates) {
    if (rate.architecture != machine.architecture || machine.clock <= 0) continue;
    const int each = format == Format::f32 ? rate.f32 : rate.tensor;
    return {
        2e-12 * each * machine.multiprocessors * machine.clock,
        concat(machine.multiprocessors, " SMs x ", each, " multiply-adds x ", machine.clock * 1e-9, " GHz")};
  }
  return {0, concat("no limit is known for ", machine.name, " (sm_", machine.architecture, ")")};
}

}  // namespace tinymp::kernels::bench
