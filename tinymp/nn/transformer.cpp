#include <tinymp/nn/transformer.h>
#include <cmath>

namespace tinymp::nn {
namespace {

constexpr float table_bound = 0.0346410162f;  // uniform in +- 0.02 sqrt 3 has standard deviation 0.02

void expect_sizes(bool is_encoder, const TransformerSizes& s) {
  expect(s.words > 0 && s.context > 0 && s.layers > 0 && s.width > 0 && s.heads > 0, "Transformer: ", s.words,
         " words, a context of ", s.context, ", ", s.layers, " layers, a width of ", s.width, " and ",
         s.heads, " heads; all must be above 0");
  expect(s.width % s.heads == 0, "Transformer: ", s.heads, " heads do not share a width of ", s.width,
         "; choose a multiple");
  expect(s.classes >= 0 && (s.classes == 0 || is_encoder), "Transformer: ", s.classes,
         " classes; an encoder may have some, a decoder has none");
}

/// The gain of a layer that adds to the sum. A decoder has 2 N such layers: with smaller first weights the sum does not
/// grow with N.
float gain_of_sum(bool is_decoder, const TransformerSizes& sizes) {
  return is_decoder ? gain_default / std::sqrt(2 * static_cast<float>(sizes.layers)) : gain_default;
}

/// Each layer of dropout draws its own places, and so does each seed. `rng` is that of the weights, which stays as it is.
std::uint64_t dropout_seed(const Rng& rng, std::uint64_t block, std::uint64_t place) {
  constexpr std::uint64_t dropouts = 0x7261'6e73'666f'726d;
  return rng.split(dropouts).split(8 * block + place).seed();
}

}  // namespace

TransformerBlock::TransformerBlock(bool is_decoder, const TransformerSizes& s, std::uint64_t number,
                                   const Recipe& recipe, Rng& rng)
    : norms_first(is_decoder),
      causal(is_decoder),
      heads(s.heads),
      norm1(s.width, recipe),
      query(s.width, s.width, recipe, rng),
      key(s.width, s.width, recipe, rng),
      value(s.width, s.width, recipe, rng),
      out(s.width, s.width, recipe, rng, gain_of_sum(is_decoder, s)),
      norm2(s.width, recipe),
      first(s.width, 4 * s.width, recipe, rng),
      second(4 * s.width, s.width, recipe, rng, gain_of_sum(is_decoder, s)),
      of_attention(s.dropout, dropout_seed(rng, number, 0)),
      of_out(s.dropout, dropout_seed(rng, number, 1)),
      of_second(s.dropout, dropout_seed(rng, number, 2)) {}

Tensor TransformerBlock::attend(const Tensor& x, const Texts& texts) const {
  const std::int64_t width = x.shape()[1];
  const Shape of_texts{x.shape()[0] / texts.steps, texts.steps, width};
  AttentionOptions how{.heads = heads, .causal = causal, .lengths = texts.lengths};
  if (of_attention.p > 0 && Tape::current() != nullptr) {
    how.dropout = of_attention.p;
    how.seed = of_attention.seed;
    how.step = of_attention.next_step(x.device());
  }
  const auto part = [&](const Linear& layer) { return reshape(layer(x), of_texts); };
  const Tensor q = part(query), k = part(key), v = part(value);
  return out(reshape(attention(q, k, v, std::move(how)), {x.shape()[0], width}));
}

Tensor TransformerBlock::operator()(const Tensor& x, const Texts& texts) const {
  const auto dropped = [](const Dropout& layer, const Tensor& y) { return layer.p > 0 ? layer(y) : y; };
  const auto change = [&](const Tensor& y) { return dropped(of_second, second(gelu(first(y)))); };
  if (norms_first) {
    const Tensor y = add(x, dropped(of_out, attend(norm1(x), texts)));
    return add(y, change(norm2(y)));
  }
  const Tensor y = norm1(add(x, dropped(of_out, attend(x, texts))));
  return norm2(add(y, change(y)));
}

std::vector<Parameter> TransformerBlock::parameters(const std::string& block) const {
  std::vector<Parameter> list;
  append(list, {norm1.parameters(block + " norm1"), query.parameters(block + " query"),
                key.parameters(block + " key"), value.parameters(block + " value"),
                out.parameters(block + " out"), norm2.parameters(block + " norm2"),
                first.parameters(block + " first"), second.parameters(block + " second")});
  return list;
}

Transformer::Transformer(Kind kind, const TransformerSizes& sizes, const Recipe& recipe, Rng& rng)
    : kind_(kind),
      sizes_((expect_sizes(kind == Kind::encoder, sizes), sizes)),
      accumulate_(recipe.accumulate),
      table_(uniform({sizes.words, sizes.width}, table_bound, recipe.compute, rng)),
      positions_(uniform({sizes.context, sizes.width}, table_bound, recipe.compute, rng)),
      of_embedding_(sizes.dropout, dropout_seed(rng, 0, 0)),
      norm_(sizes.width, recipe),
      of_pooled_(sizes.dropout, dropout_seed(rng, 0, 1)) {
  for (std::int64_t i = 1; i <= sizes.layers; ++i)
    blocks_.emplace_back(!is_encoder(), sizes, static_cast<std::uint64_t>(i), recipe, rng);
  if (!is_encoder()) return;
  transform_.emplace_back(sizes.width, sizes.width, recipe, rng);
  if (sizes.classes > 0) {
    out_.emplace_back(sizes.width, sizes.classes, recipe, rng);
    return;
  }
  transform_norm_.emplace_back(sizes.width, recipe);
  bias_ = filled({sizes.words}, recipe.compute, 0).set_requires_grad(true);
}

namespace {

/// The rows of the tokens that are asked for.
Tensor rows_of(const Tensor& x, const Indices& asked) {
  expect(asked.largest() < x.shape()[0], "Transformer: place ", asked.largest(),
         " is asked for, and the texts have ", x.shape()[0], " tokens");
  return resident::embedding(x, asked);
}

}  // namespace

Tensor Transformer::enter(const Texts& texts) const {
  const std::int64_t count = texts.tokens.size(), width = sizes_.width;
  expect(texts.steps >= 1 && texts.steps <= sizes_.context && count % texts.steps == 0, name(), ": ", count,
         " tokens are no texts of ", texts.steps, "; a text has 1 to ", sizes_.context, " tokens");
  const Tensor words =
      reshape(resident::embedding(table_, texts.tokens), {count / texts.steps, texts.steps, width});
  Tensor x = reshape(add_positions(words, positions_), {count, width});
  if (is_encoder()) x = norm_(x);
  return of_embedding_.p > 0 ? of_embedding_(x) : x;
}

Tensor Transformer::block(std::int64_t i, const Tensor& x, const Texts& texts) const {
  return blocks_[static_cast<std::size_t>(i)](x, texts);
}

Tensor Transformer::leave(const Tensor& of_blocks, const Texts& texts) const {
  Tensor x = is_encoder() ? of_blocks : norm_(of_blocks);
  if (texts.asked) x = rows_of(x, *texts.asked);
  if (!is_encoder()) return matmul_transposed(x, table_, {accumulate_});
  if (sizes_.classes > 0) return classes_of(x);
  x = transform_norm_.front()(gelu(transform_.front()(x)));
  return add_bias(matmul_transposed(x, table_, {accumulate_}), bias_);
}

Tensor Transformer::classes_of(const Tensor& x) const {
  const Tensor pooled = transform_.front()(x, Activation::tanh);
  return out_.front()(of_pooled_.p > 0 ? of_pooled_(pooled) : pooled);
}

Tensor Transformer::operator()(const Tensor&) const {
  throw Error(concat(name(), " reads texts, and takes no images"));
}

StagedModel::Part Transformer::part(std::int64_t i) const {
  Part part;
  const bool drops = sizes_.dropout > 0;
  if (i == 0) {
    part.parameters = {{"embedding table", table_}, {"positions table", positions_}};
    if (is_encoder()) append(part.parameters, {norm_.parameters("norm")});
    if (drops) part.buffers = {of_embedding_.step};
    return part;
  }
  if (i <= blocks()) {
    const TransformerBlock& block = blocks_[static_cast<std::size_t>(i - 1)];
    part.parameters = block.parameters(concat("block ", i));
    if (drops) part.buffers = {block.of_attention.step, block.of_out.step, block.of_second.step};
    return part;
  }
  part.parameters = is_encoder() ? transform_.front().parameters("transform") : norm_.parameters("norm");
  if (is_encoder() && sizes_.classes > 0) {
    append(part.parameters, {out_.front().parameters("out")});
    if (drops) part.buffers = {of_pooled_.step};
  } else if (is_encoder()) {
    append(part.parameters, {transform_norm_.front().parameters("transform_norm")});
    part.parameters.push_back({"out bias", bias_});
  }
  return part;
}

std::string Transformer::name() const {
  std::string text =
      concat("transformer ", is_encoder() ? "encoder" : "decoder", " of ", sizes_.words, " words, ",
             sizes_.layers, sizes_.layers == 1 ? " layer of " : " layers of ", sizes_.width, ", ",
             sizes_.heads, sizes_.heads == 1 ? " head" : " heads", ", context ", sizes_.context);
  if (sizes_.dropout > 0) text += concat(", dropout ", sizes_.dropout);
  if (sizes_.classes > 0) text += concat(", ", sizes_.classes, " classes");
  return text;
}

}  // namespace tinymp::nn
