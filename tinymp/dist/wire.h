#pragma once

#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <string>

/// The format in which ranks add up their gradients. Half of the bytes travel where it has 16 bits; then it matters where the
/// sum over N ranks becomes their mean:
///
///   after   sum, then divide by N. N equal values have a sum N times as large: FP16 overflows log2 N powers of two earlier.
///           PyTorch's fp16_compress_hook did so before 1.8.
///   first   multiply by 1/N, round, sum. The sum is no larger than the largest gradient, but small ones are N times smaller
///           when they are rounded: FP16 flushes them log2 N powers of two earlier. DDP's reducer does so, and today's
///           fp16_compress_hook, which rounds before it divides, too.
///   split   divide by f, sum, divide by N / f, where f is a power of two near the root of N. FSDP does so in FP16
///           (_get_gradient_predivide_factor): either end of the range moves by half of the powers of two. With N = 2, f is 2.
///
/// BF16 has the range of FP32, so that there the three differ little; it has three bits fewer to add with.
/// Each addition rounds once, as in the rings of NCCL (its half sums are __hadd). A ring begins each piece at another rank;
/// here rank 0 is first for all elements, so the result depends on the number of ranks alone.
namespace tinymp::dist {

enum class Divide : std::uint8_t { after, first, split };

struct Wire {
  DType format =
      DType::f32;  ///< f32: gradients travel as they are, and their sum has the bits of one process
  Divide divide = Divide::split;

  bool rounds() const { return format != DType::f32; }
  bool operator==(const Wire&) const = default;
};

/// What a rank divides its gradients by before they are rounded: 1, N, or f.
double predivide_factor(Divide divide, int ranks);
/// Writes gradients divided by the factor, in FP32, into the wire's format: they are rounded once.
void put_on_wire(const View& gradients, double factor, const View& wire);
/// A sum over so many micro-batches came over the wire: the number that it still has to be divided by.
double divisor_behind(double micro_batches, double factor);

const char* name_of(Divide divide);                ///< "after", "first", "split"
Divide divide_from_name(const std::string& name);  ///< throws UsageError for another name

/// "f16, divided first"; empty for one that does not round.
std::string describe(const Wire& wire);

}  // namespace tinymp::dist
