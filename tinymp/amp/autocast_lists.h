#pragma once

#include <span>
#include <string>
#include <string_view>

/// The format in which each op runs under autocast. The lists are data, so a lesson can put an op on the
/// wrong list on purpose. Every framework has such lists; PyTorch's are in aten/src/ATen/autocast_mode.h.
namespace tinymp {

enum class RunsIn : std::uint8_t {
  narrow,  ///< the format that Autocast was given, for matrix products: tensor cores multiply in it and add up in FP32
  wide,    ///< FP32, for ops that sum many values or leave the range of FP16
  widest,  ///< for ops that need all inputs in one format: the one they share, or f32 if they come in several
  given,   ///< the formats of the inputs: nothing is cast
};

struct AutocastRule {
  std::string op;  ///< its name in ops.h and on the tape
  RunsIn runs_in;
};

/// The rule of every op of ops.h. Two differ from PyTorch's for CUDA: add_bias is narrow, where PyTorch treats it
/// as an addition (widest); mean is wide, where PyTorch has no rule (given). tests/amp/autocast_lists_test.cpp
/// fails for an op without a rule.
std::span<const AutocastRule> autocast_rules();

}  // namespace tinymp
