#pragma once

#include <kernels/formulas/attention.h>
#include <kernels/formulas/optimizers.h>
#include <kernels/formulas/rounded_update.h>
#include <kernels/formulas/shown_image.h>
#include <kernels/formulas/unary.h>
#include <kernels/formulas/window.h>
#include <kernels/step.h>
#include <kernels/step_decision.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/accumulation.h>
#include <tinymp/numeric/eight_bits.h>
#include <tinymp/numeric/quantize.h>
#include <tinymp/tensor/device_value.h>
#include <tinymp/tensor/view.h>
#include <cstdint>
#include <optional>
#include <span>

/// Every kernel: called as a free function, views in, views out, on the device where the views lie. No kernel
/// allocates its output, records on a tape or knows a model. 16-bit values are widened, computed on in FP32
/// and rounded once as they are stored; f64 stays f64. Callers have checked shapes, formats and devices: the
/// ops do.
namespace tinymp::kernels {

enum class Trans : bool { no, yes };

/// What a product of FP8 operands, a and b, has beside them.
struct Float8Product {
  /// What the operands were multiplied with when they became FP8 (quantize). Without a cell: 1. The product of the
  /// numbers that they stand for is the sum times product_factor() (formulas/float8.h).
  std::optional<Cell<const float>> scale_a{}, scale_b{};
  /// A tensor core that takes FP8 may keep few bits of a sum. After so many terms, a multiple of 32, its sum is added
  /// to one in FP32 and begins again at 0. 0: never. 128 as in DeepSeek-V3 (arXiv 2412.19437, section 3.3.2). The
  /// CPU keeps its sums in FP32, so it does not read this.
  int promote_every = 128;
};

/// What follows a product before it is stored. Every step rounds to the format of c, as add_bias and unary
/// would: fusing them saves the way to memory and changes no bit. After a product of FP8 no step rounds but
/// the last: c = round(activation(factor sum + bias)), in FP32 with a rounding to FP32 after each operation.
struct Epilogue {
  View bias{};  ///< (N), in the format of c; without memory: none
  std::optional<Unary> activation{};
  Float8Product float8{};  ///< of FP8 operands
};

/// What each column of x:(B,O), or each row, is normalised with:  xhat = (x - mean) / sqrt(variance +
/// epsilon).
struct Normalizer {
  View mean, variance;  ///< (O), or (B); FP32 (f64 of f64)
  double epsilon;
};

/// The arenas of one optimizer. `master` is the same memory as `weights` when there is no master copy.
struct UpdateArenas {
  View weights;  ///< compute format: what the model reads
  View master;   ///< what is updated
  View gradients;
  View moments[2];      ///< as many as the rule has
  View compensation{};  ///< in the master's format; without memory unless rounding.kahan
  UpdateRounding rounding{};
  /// The place of the first value among all, where other processes have the others (optim/shards.h). On the CPU alone.
  std::int64_t first = 0;
};

/// Which batch of an epoch is meant. A step reads `micro_batches` of them, one after the other.
struct PlaceInEpoch {
  const std::int64_t* before;  ///< one number on the device: the steps before the first of this epoch
  std::int64_t micro_batches = 1, micro_batch = 0;

  TINYMP_HD std::int64_t batch_after(std::int64_t steps) const {
    return (steps - *before) * micro_batches + micro_batch;
  }
};

/// A data set on a device, and the order in which an epoch shows it.
struct ImageSource {
  ImageBytes images;
  const std::uint8_t* labels;  ///< (N)
  const ShownImage* order;     ///< of this epoch
  PlaceInEpoch place;
  Device device;
};

/// The texts of an epoch on a device, in the order in which steps read them.
struct TextSource {
  const std::int32_t *tokens, *asked, *labels;  ///< asked: null where every token has a label
  PlaceInEpoch place;
  Device device;
};

namespace cpu {
#include <kernels/functions.inc>
}

/// kernels::cast(x, y) runs cpu::cast(x, y) where x and y lie on Device::cpu; else that of the GPU, or of its
/// emulation. dispatch.cpp decides.
#define TINYMP_KERNEL(name) extern decltype(cpu::name)& name;
TINYMP_KERNELS(TINYMP_KERNEL)
#undef TINYMP_KERNEL

}  // namespace tinymp::kernels
