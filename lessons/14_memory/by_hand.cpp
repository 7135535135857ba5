#include <lessons/14_memory/by_hand.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

constexpr float table_bound = 0.0346410162f;  // as in nn::Transformer
constexpr float very_low = -1e9f;

/// 1 where a row does not see: another text, a later token, and with `own_too` the token itself.
std::vector<float> hidden_places(std::int64_t rows, std::int64_t steps, bool own_too) {
  std::vector<float> hidden(static_cast<std::size_t>(rows * rows), 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = row / steps * steps, end = own_too ? row : row + 1;
    std::fill(hidden.begin() + row * rows + first, hidden.begin() + row * rows + end, 0.0f);
  }
  return hidden;
}

}  // namespace

Tensor softmax_by_hand(const Tensor& scores, ByHand::Softmax way) {
  if (way == ByHand::Softmax::fused) return softmax(scores);
  const bool shifts = way == ByHand::Softmax::fp16_sum;
  const Tensor e = exp(shifts ? subtract_rows(scores, row_max(scores)) : scores);
  const bool narrow = shifts && scores.dtype() == DType::f16;
  return divide_rows(e, row_sum(e, {.format = narrow ? DType::f16 : DType::f32}));
}

Tensor masked_by_hand(const Tensor& scores, const std::vector<float>& hidden, ByHand::Mask way) {
  std::vector<float> values = hidden;
  const auto tensor = [&] {
    return Tensor::from(scores.shape(), values, scores.dtype()).to(scores.device());
  };
  if (way == ByHand::Mask::as_product) {
    const Tensor h = tensor();
    std::ranges::fill(values, very_low);
    return add(scores, multiply(h, tensor()));
  }
  for (float& value : values) value *= very_low;
  return add(scores, tensor());
}

DecoderByHand::DecoderByHand(const nn::TransformerSizes& sizes, ByHand how, const Recipe& recipe, Rng& rng)
    : sizes_(sizes),
      how_(how),
      accumulate_(recipe.accumulate),
      table_(nn::uniform({sizes.words, sizes.width}, table_bound, recipe.compute, rng)),
      positions_(nn::uniform({sizes.context, sizes.width}, table_bound, recipe.compute, rng)),
      norm_(sizes.width, recipe) {
  for (std::int64_t i = 1; i <= sizes.layers; ++i)
    blocks_.emplace_back(true, sizes, static_cast<std::uint64_t>(i), recipe, rng);
}

Tensor DecoderByHand::attend(const nn::TransformerBlock& block, const Tensor& x,
                             const std::vector<float>& hidden) const {
  const std::int64_t d = sizes_.width / sizes_.heads;
  const Tensor q = block.query(x), k = block.key(x), v = block.value(x);  // (R,W)
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < sizes_.heads; ++h) {
    const auto part = [&](const Tensor& y) { return columns(y, h * d, d); };
    Tensor scores = matmul_transposed(part(q), part(k), {accumulate_});  // (R,R)
    if (how_.root) scores = scale(scores, 1 / std::sqrt(static_cast<float>(d)));
    const Tensor p = softmax_by_hand(masked_by_hand(scores, hidden, how_.mask), how_.softmax);
    heads.push_back(matmul(p, part(v), {accumulate_}));  // (R,d)
  }
  return block.out(concat_columns(heads));
}

Tensor DecoderByHand::read(const Texts& texts) const {
  const std::int64_t rows = texts.tokens.size(), width = sizes_.width;
  const Tensor words =
      reshape(resident::embedding(table_, texts.tokens), {rows / texts.steps, texts.steps, width});
  Tensor x = reshape(add_positions(words, positions_), {rows, width});
  const std::vector<float> hidden = hidden_places(rows, texts.steps, how_.mask == ByHand::Mask::own_too);
  for (const nn::TransformerBlock& block : blocks_) {
    x = add(x, attend(block, block.norm1(x), hidden));
    x = add(x, block.second(gelu(block.first(block.norm2(x)))));
  }
  return matmul_transposed(norm_(x), table_, {accumulate_});
}

Tensor DecoderByHand::operator()(const Tensor&) const {
  throw Error(concat(name(), " reads texts, and takes no images"));
}

std::vector<nn::Parameter> DecoderByHand::parameters() const {
  std::vector<nn::Parameter> list{{"embedding table", table_}, {"positions table", positions_}};
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    nn::append(list, {blocks_[i].parameters(concat("block ", i + 1))});
  nn::append(list, {norm_.parameters("norm")});
  return list;
}

}  // namespace tinymp::lab
