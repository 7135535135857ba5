#pragma once

#include <cstdint>

namespace tinymp::kernels {

/// The element-wise functions. Their arithmetic: formulas.h.
enum class Unary : std::uint8_t { relu, sigmoid, tanh, exp, log };

}  // namespace tinymp::kernels
