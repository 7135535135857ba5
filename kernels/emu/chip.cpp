#include <kernels/emu/chip.h>
#include <tinymp/base/error.h>
#include <cstdlib>
#include <string_view>

namespace tinymp::kernels::emu::machine {
namespace {

std::string_view asked_for() {
  const char* const set = std::getenv("TINYMP_EMULATE");
  return set == nullptr ? "" : set;
}

Chip from_environment() {
  const std::string_view text = asked_for();
  if (text.empty() || text == "0" || text == "1") return {};  // 0: emulated only if a program asks for it
  try {
    return gpu_from_name(text);
  } catch (const UsageError& error) {
    throw UsageError(concat("TINYMP_EMULATE: ", error.what(),
                            ", or 1 for sums in FP32 as on the CPU; 0 turns the emulation off"));
  }
}

Chip& current() {
  static Chip chip = from_environment();
  return chip;
}

}  // namespace

namespace {
Instruction of_float8 = Instruction::native;
}

Instruction float8_instruction() { return of_float8; }
void use_float8_instruction(Instruction instruction) { of_float8 = instruction; }

Chip chip() { return current(); }
void use_chip(Chip chip) { current() = chip; }

int architecture_of(Chip chip) {
  if (!chip) return 90;
  switch (*chip) {
    case Gpu::v100:
      return 70;
    case Gpu::a100:
      return 80;
    case Gpu::ada:
      return 89;
    case Gpu::h100:
    case Gpu::h200:
      break;
    case Gpu::b200:
      return 100;
  }
  return 90;
}

}  // namespace tinymp::kernels::emu::machine
