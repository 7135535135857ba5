#pragma once

#include <lessons/lab/bench/executor.h>
#include <cstdint>
#include <string>
#include <vector>

namespace tinymp::kernels::bench {

struct GemmShape {
  int M = 0, N = 0, K = 0;
  Format format = Format::f16;
  Sums sums = Sums::f32;
  Trans ta = Trans::no, tb = Trans::no;
  int row_bytes = 16;  ///< rows of a and b begin at multiples of it
};
/// "(64,32) = (64,128)^T (128,32), f16 with sums in f32"
std::string text_of(const GemmShape& shape);

/// The values of a and b.
enum class Values : std::uint8_t {
  integers,  ///< from -2 to 2: sums are exact, so every element has one right value
  uniform,   ///< from -1 to 1: the error may be that of rounding each term of the sum
};
/// Whether sums of `integers` stay exact: FP16 holds all integers up to 2048.
bool exact(const GemmShape& shape);

/// One product in the memory of an executor, and its right values: sums in double.
class GemmCase {
 public:
  /// `gap` is the number of elements between the rows of c. No kernel may touch them.
  GemmCase(Executor& executor, const GemmShape& shape, Values values, int gap);

  const GemmProblem& problem() const { return problem_; }
  /// Sets c, and the gaps between its rows, to NaN.
  void poison();
  /// Compares `samples` elements of c with the right values (all, when c has no more). Looks for NaN in all
  /// of c, and for anything else in the gaps. Returns the first fault; empty when there is none. Waits for
  /// the executor.
  std::string fault(std::int64_t samples) const;

 private:
  struct Matrix {
    int rows, cols, ld;
    std::vector<unsigned char> bytes;
  };
  Matrix draw(int rows, int cols, std::uint64_t seed) const;
  float at(const Matrix& x, Trans t, int row, int col) const;
  std::string element_fault(int m, int n, float got) const;

  Executor* executor_;
  GemmShape shape_;
  Values values_;
  Matrix a_, b_;
  std::size_t c_bytes_;
  Memory a_memory_, b_memory_, c_memory_;
  GemmProblem problem_;
};

}  // namespace tinymp::kernels::bench
