#pragma once

#include <span>
#include <string>
#include <string_view>

/// The format in which each op runs under autocast. The lists are data, so a lesson can put an op on the
/// wrong list on purpose. Every framework has such lists; PyTorch's are in aten/src/ATen/autocast_mode.h.
/// Two rules differ from PyTorch's for CUDA:
///   add_bias   narrow here, so that matmul and add_bias give the bits of linear; PyTorch adds in the widest
///              format
///   mean       wide here; PyTorch's lists do not name it, so it runs in the format given
namespace tinymp {

enum class RunsIn : std::uint8_t {
  narrow,  ///< the format of the region, for products with a long sum: tensor cores keep the sum in FP32
  wide,    ///< FP32, for ops that sum many values or leave the range of FP16
  /// The format that holds all inputs without rounding: theirs if they have one format, else FP32 (for f16
  /// with bf16, too). For ops whose inputs must have one format.
  widest,
  given,  ///< the formats of the inputs: nothing is cast
};

struct AutocastRule {
  std::string op;  ///< its name in ops.h and on the tape
  RunsIn runs_in;
};

/// The rule of every op of ops.h. tests/amp/autocast_lists_test.cpp fails for an op without a rule.
std::span<const AutocastRule> autocast_rules();

}  // namespace tinymp
