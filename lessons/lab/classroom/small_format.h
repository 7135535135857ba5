#pragma once

#include <string>

/// A number format of any widths, built as FP16: hidden one, subnormals, infinity, bias in the middle,
/// rounding to nearest, ties to even. Only questions use it; nothing trains in it.
namespace tinymp::classroom {

struct SmallFormat {
  int exponent_bits = 5, fraction_bits = 10;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  double largest() const;
  double smallest() const;  ///< the smallest above zero
  double rounded(double x) const;
  std::string fields(double x) const;  ///< "0 01111 0000000001"; x is a finite number of the format
  std::string name() const;            ///< "1 sign bit, 5 exponent bits, 10 fraction bits"
};

/// x rounded to fraction_bits behind its leading one, for any exponent.
double rounded_to(double x, int fraction_bits);

}  // namespace tinymp::classroom
