#pragma once

#include <span>
#include <string>
#include <string_view>

/// Which op runs in which format under autocast, and nothing else: the lists that every framework has
/// (PyTorch's are in torch/csrc, autocast_mode; that for CUDA has add_bias as a widest addition, and mean as
/// it comes). They are data, so a lesson can put an op on the wrong one.
namespace tinymp {

enum class RunsIn : std::uint8_t {
  narrow,  ///< the format of the region: it is a product with a long sum, which tensor cores do, in FP32
  wide,    ///< FP32: it sums up, or its results leave the range of FP16
  widest,  ///< of its inputs: they must share one, and nothing is lost
  given,   ///< in what it gets
};

struct AutocastRule {
  std::string op;  ///< its name in ops.h, which is that on the tape
  RunsIn runs_in;
};

/// The rule of every op of ops.h; tests/amp/autocast_lists_test.cpp names those that have none.
std::span<const AutocastRule> autocast_rules();

}  // namespace tinymp
