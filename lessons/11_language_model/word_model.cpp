#include <lessons/11_language_model/word_model.h>
#include <tinymp/data/text.h>
#include <tinymp/numeric/exp_log.h>
#include <tinymp/ops/ops.h>

namespace tinymp::lab {

std::vector<Contender> contenders(const Lab& lab) {
  Recipe one = recipes::fp16_static, constant = one, moving = one;
  one.scaling = StaticScaling{1};
  constant.scaling = StaticScaling{lab.sabotaged() ? 1.0f : 128.0f};
  moving.scaling = DynamicScaling{.growth_interval = 20};
  return {{fp32, recipes::fp32},
          {unscaled, one},
          {scaled, constant},
          {dynamic, moving},
          {bf16, {.compute = DType::bf16, .gradient = DType::bf16}}};
}

Answers ask(const Lab& lab, const nn::LanguageModel& model, std::span<const std::int32_t> tokens) {
  data::TextLoader loader(tokens, 64, length);
  const std::int64_t blocks = lab.steps(loader.blocks_per_epoch(), 1);
  double losses = 0, of_rare = 0;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const data::TextBlock block = loader.next();
    const Tensor logits = model(block.tokens, block.steps);
    losses += cross_entropy(logits, block.targets).item();
    const Tensor p = softmax(cast(logits, DType::f32));
    of_rare += sum(columns(p, rare, words - rare)).item() / static_cast<double>(block.tokens.size());
  }
  const auto count = static_cast<double>(blocks);
  return {tinymp::exp(losses / count), of_rare / count};
}

}  // namespace tinymp::lab
