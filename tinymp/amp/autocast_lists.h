#pragma once

#include <span>
#include <string>
#include <string_view>

/// The format in which each op runs under autocast. The lists are data, so a lesson can put an op on the
/// wrong one. Every framework has such lists; PyTorch's are in torch/csrc, autocast_mode. Its CUDA lists
/// treat add_bias as an addition (widest) and do not name mean (given).
namespace tinymp {

enum class RunsIn : std::uint8_t {
  narrow,  ///< the format of the region, for products with a long sum: tensor cores keep the sum in FP32
  wide,    ///< FP32, for ops that sum many values or leave the range of FP16
  widest,  ///< the widest format of the inputs, for ops whose inputs must have one format: nothing is rounded
  given,   ///< the formats of the inputs: nothing is cast
};

struct AutocastRule {
  std::string op;  ///< its name in ops.h and on the tape
  RunsIn runs_in;
};

/// The rule of every op of ops.h. tests/amp/autocast_lists_test.cpp fails for an op without a rule.
std::span<const AutocastRule> autocast_rules();

}  // namespace tinymp
