#pragma once

#include <span>
#include <string>
#include <string_view>

/// The format in which each op runs under autocast. The lists are data, so a lesson can put an op on the
/// wrong list on purpose. Every framework has such lists; PyTorch's are in aten/src/ATen/autocast_mode.h.
namespace tinymp {

enum class RunsIn : std::uint8_t {
  narrow,  ///< the format of the region, for matrix products: tensor cores multiply in that format and add up in FP32
  wide,  ///< FP32, for ops that sum many values or leave the range of FP16
  /// For ops that need all inputs in one format. If all inputs have the same format, they keep it. If not, all are cast
  /// to FP32.
  widest,
  given,  ///< the formats of the inputs: nothing is cast
};

struct AutocastRule {
  std::string op;  ///< its name in ops.h and on the tape
  RunsIn runs_in;
};

/// The rules of all ops of ops.h. Two rules differ from PyTorch's rules for CUDA. add_bias is narrow, but PyTorch
/// treats add_bias as an addition (widest). mean is wide, but PyTorch has no rule for mean (given).
/// tests/amp/autocast_lists_test.cpp fails for an op without a rule.
std::span<const AutocastRule> autocast_rules();

}  // namespace tinymp
