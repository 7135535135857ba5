#include <tinymp/amp/autocast_lists.h>

namespace tinymp {

std::span<const AutocastRule> autocast_rules() {
  using enum RunsIn;
  static const AutocastRule rules[] = {
      {"matmul", narrow},
      {"linear", narrow},
      {"conv2d", narrow},
      {"add_bias", narrow},  // the end of a linear layer: written as matmul and add_bias it has the same bits

      {"exp", wide},
      {"log", wide},
      {"softmax", wide},
      {"log_softmax", wide},
      {"row_sum", wide},
      {"layer_norm", wide},
      {"sum", wide},
      {"mean", wide},
      // These take FP16 and compute in FP32 all the same, so the cast changes no bit. The list is the promise
      // that holds for every loss; it costs a copy of the logits.
      {"cross_entropy", wide},
      {"mse", wide},

      {"add", widest},
      {"subtract", widest},
      {"multiply", widest},
      {"concat_columns", widest},
      {"subtract_rows", widest},
      {"divide_rows", widest},

      {"relu", given},
      {"sigmoid", given},
      {"tanh", given},
      {"scale", given},
      {"dropout", given},
      {"row_max", given},
      {"pick", given},
      {"columns", given},
      {"embedding", given},   // it copies rows: to cast them all would cost more than what is copied
      {"batch_norm", given},  // FP32 gamma and beta beside 16-bit images; its statistics are FP32 in any case
      {"max_pool2d", given},
      {"avg_pool2d", given},
      {"global_avg_pool2d", given},
      {"subsample", given},
      {"cast", given},     // this one
      {"reshape", given},  // and this do not even ask
  };
  return rules;
}

}  // namespace tinymp
