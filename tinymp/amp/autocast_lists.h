#pragma once

#include <span>
#include <string>
#include <string_view>

/// The format in which each op runs under autocast. The lists are data, so a lesson can put an op on the
/// wrong list on purpose. Every framework has such lists; PyTorch's are in aten/src/ATen/autocast_mode.h. Two
/// rules differ from PyTorch's for CUDA. add_bias is narrow; PyTorch treats it as an addition (widest). mean is
/// wide; PyTorch has no rule for it (given).
namespace tinymp {

enum class RunsIn : std::uint8_t {
  narrow,  ///< the format of the region, for matrix products: tensor cores keep their sums in FP32
  wide,    ///< FP32, for ops that sum many values or leave the range of FP16
  widest,  ///< a format that holds all inputs (f32 for f16 with bf16), for ops whose inputs must agree
  given,   ///< the formats of the inputs: nothing is cast
};

struct AutocastRule {
  std::string op;  ///< its name in ops.h and on the tape
  RunsIn runs_in;
};

/// The rule of every op of ops.h. tests/amp/autocast_lists_test.cpp fails for an op without a rule.
std::span<const AutocastRule> autocast_rules();

}  // namespace tinymp
