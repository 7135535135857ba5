#include <tinymp/amp/autocast_lists.h>

namespace tinymp {

std::span<const AutocastRule> autocast_rules() {
  using enum RunsIn;
  static const AutocastRule rules[] = {
      {"matmul", narrow},
      {"linear", narrow},
      {"matmul_transposed", narrow},
      {"conv2d", narrow},
      {"attention", narrow},  // its scores and their softmax are FP32 all the same
      {"add_bias", narrow},   // so that matmul and add_bias give the bits of linear

      {"exp", wide},
      {"log", wide},
      {"softmax", wide},
      {"log_softmax", wide},
      {"row_sum", wide},
      {"layer_norm", wide},
      {"sum", wide},
      {"mean", wide},
      // A loss computes in FP32 even for FP16 logits, so the cast changes no bit and costs a copy of the
      // logits. The rule promises FP32 for every loss.
      {"cross_entropy", wide},
      {"mse", wide},

      {"add", widest},
      {"subtract", widest},
      {"multiply", widest},
      {"add_positions", widest},
      {"concat_columns", widest},
      {"subtract_rows", widest},
      {"divide_rows", widest},

      {"relu", given},
      {"sigmoid", given},
      {"tanh", given},
      {"gelu", given},
      {"scale", given},
      {"dropout", given},
      {"row_max", given},
      {"pick", given},
      {"columns", given},
      {"embedding", given},   // it copies a few rows of the table; a cast would convert all rows
      {"batch_norm", given},  // takes FP32 gamma and beta with 16-bit images; its statistics are always FP32
      {"max_pool2d", given},
      {"avg_pool2d", given},
      {"global_avg_pool2d", given},
      {"subsample", given},
      {"cast", given},     // cast() never reads its rule
      {"reshape", given},  // reshape() never reads its rule
  };
  return rules;
}

}  // namespace tinymp
