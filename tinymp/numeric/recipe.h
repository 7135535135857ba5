#pragma once

#include <tinymp/numeric/dtype.h>
#include <tinymp/numeric/eight_bits.h>
#include <tinymp/numeric/loss_scaling.h>
#include <tinymp/numeric/roundings.h>
#include <string>
#include <vector>

/// The formats and the loss scaling of a run, in one run-time value. A lesson trains the same model with the
/// same seed under several recipes and compares the curves; nothing else changes between them.
namespace tinymp {

struct Recipe {
  DType compute = DType::f32;     ///< the model's weights and activations, and their gradients
  DType accumulate = DType::f32;  ///< the running sum inside a matmul
  DType gradient = DType::f32;    ///< parameter gradients at rest, where micro-batches add up
  DType master = DType::f32;      ///< the copy of the weights that the optimizer updates (== compute: none)
  DType state = DType::f32;       ///< the optimizer's moments
  /// The format of matmuls and convolutions while the weights are FP32: amp/autocast.h. f32: nothing is cast.
  DType autocast = DType::f32;
  EightBits eight_bits{};  ///< matrix products whose operands are FP8: amp/float8_products.h
  /// How numbers are rounded. With eight_bits `weights` is the rounding of the weights in FP8. Only what a run obeys may differ from nearest even: expect_roundings().
  Roundings rounding{};
  /// A second number of the master's format for each weight keeps what the rounding of the update lost, and the
  /// next update adds it (Kahan 1965; for weights Zamirai et al. 2020, arXiv 2010.06192).
  bool kahan = false;
  bool fp32_norm_parameters = false;  ///< batch norm's gamma and beta are FP32; its statistics always are
  LossScaling scaling = NoScaling{};
  bool operator==(const Recipe&) const = default;
};

/// True when gradients are computed, summed or kept in less than FP32, so that they may lose what FP32 holds. Products in FP8
/// compute them in less, whatever the format around them.
constexpr bool has_narrow_gradients(const Recipe& recipe) {
  return is_narrow(recipe.compute) || is_narrow(recipe.accumulate) || is_narrow(recipe.gradient) ||
         is_narrow(recipe.autocast) || recipe.eight_bits.any();
}

namespace recipes {
using DType::f16, DType::f32;
inline constexpr Recipe fp32{};
/// FP16 weights without a master, FP16 gradients, FP32 moments. A weight absorbs an update that is smaller than
/// half the distance to the next FP16 number.
inline constexpr Recipe fp16_weights{.compute = f16, .gradient = f16, .master = f16, .state = f32};
inline constexpr Recipe fp16_master{.compute = f16, .gradient = f16};
inline constexpr Recipe fp16_static{.compute = f16, .gradient = f16, .scaling = StaticScaling{}};
inline constexpr Recipe fp16_dynamic{.compute = f16, .gradient = f16, .scaling = DynamicScaling{}};
/// FP16 weights without a master; each update is rounded stochastically.
inline constexpr Recipe fp16_sr{.compute = f16,
                                .gradient = f16,
                                .master = f16,
                                .rounding = {.masters = Rounding::stochastic},
                                .scaling = DynamicScaling{}};

// BF16 has the range of FP32, so no gradient needs a loss scale. It has 8 bits, 3 fewer than FP16.
inline constexpr Recipe bf16{.compute = DType::bf16, .gradient = DType::bf16};
/// BF16 weights without a master.
inline constexpr Recipe bf16_weights{.compute = DType::bf16, .gradient = DType::bf16, .master = DType::bf16};
inline constexpr Recipe bf16_sr{.compute = DType::bf16,
                                .gradient = DType::bf16,
                                .master = DType::bf16,
                                .rounding = {.masters = Rounding::stochastic}};
inline constexpr Recipe bf16_kahan{
    .compute = DType::bf16, .gradient = DType::bf16, .master = DType::bf16, .kahan = true};

/// FP8 as Mellempudi et al. 2019 (arXiv 1905.12334) have it: E5M2 in all products but those of the first and the last layer,
/// for gradients, too; masters in FP16, updated in FP32 arithmetic. Nothing saturates, for the scaler needs the infinity. The
/// paper's floor under S belongs to a model: --scaling enhanced --floor.
inline constexpr Recipe fp8_e5m2{.compute = f16,
                                 .gradient = f16,
                                 .master = f16,
                                 .eight_bits = {.forward = DType::e5m2,
                                                .backward = DType::e5m2,
                                                .gradient = DType::e5m2,
                                                .exempt = "first,last"},
                                 .scaling = DynamicScaling{}};

/// BF16 with products in FP8: E4M3 forward, whose numbers are denser, and E5M2 backward, which reaches further
/// (Micikevicius et al. 2022, arXiv 2209.05433), with a delayed scale for each tensor, as Transformer Engine's DelayedScaling
/// has it (Format.HYBRID). The last layer stays in BF16: a model for Transformer Engine or torchao keeps its head as an
/// ordinary layer. A scale keeps errors in the range of E5M2, so there is no loss scaling.
inline constexpr Recipe fp8_hybrid{.compute = DType::bf16,
                                   .gradient = DType::bf16,
                                   .eight_bits = {.forward = DType::e4m3,
                                                  .backward = DType::e5m2,
                                                  .saturate = true,
                                                  .exempt = "last",
                                                  .scaling = TensorScaling::delayed}};

// The four levels of NVIDIA's Apex (apex.amp, opt_level). Other frameworks have
// the same four under other names.
inline constexpr Recipe o0{};  ///< FP32
/// FP32 weights, autocast.
inline constexpr Recipe o1{.autocast = f16, .scaling = DynamicScaling{}};
/// FP16 weights with FP32 masters, FP32 batch norm.
inline constexpr Recipe o2{
    .compute = f16, .gradient = f16, .fp32_norm_parameters = true, .scaling = DynamicScaling{}};
/// FP16 weights without a master, FP16 gradients and moments, S = 1.
inline constexpr Recipe o3{.compute = f16, .gradient = f16, .master = f16, .state = f16};
}  // namespace recipes

/// The names of all recipes, in the order of this file.
std::vector<std::string> recipe_names();

/// "fp16_dynamic" -> recipes::fp16_dynamic; throws UsageError naming the choices.
Recipe recipe_from_name(const std::string& name);

/// Throws Error when a rounding of the recipe has nothing to act on, or cannot be combined with the rest: no run then
/// ignores it silently. The message says how to mend the recipe.
void expect_roundings(const Recipe& recipe);

/// Throws Error when the formats of recipe.eight_bits are no FP8, or do not go together with the rest of the recipe. The
/// message says how to mend it.
void expect_eight_bits(const Recipe& recipe);

/// One line for tables and logs: "f16, master f32, S dynamic from 65536".
std::string describe(const Recipe& recipe);

}  // namespace tinymp
