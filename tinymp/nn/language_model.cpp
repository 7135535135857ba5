#include <tinymp/nn/language_model.h>
#include <tinymp/nn/linear.h>

namespace tinymp::nn {
namespace {

constexpr float sqrt3 = 1.7320508f;  // uniform in +- sqrt 3 has variance 1, as PyTorch's embedding has

}  // namespace

// C++ makes the members in the order of the header, and draws their weights in that order.
LanguageModel::LanguageModel(std::int64_t words, std::int64_t width, const Recipe& recipe, Rng& rng)
    : table_(uniform({words, width}, sqrt3, recipe.compute, rng)),
      lstm_(width, width, recipe, rng),
      out_(width, words, recipe, rng) {}

Tensor LanguageModel::operator()(std::span<const std::int32_t> tokens, std::int64_t steps) const {
  return (*this)(Indices(tokens, table_.device()), steps);
}

Tensor LanguageModel::operator()(const Indices& tokens, std::int64_t steps) const {
  return out_(lstm_(resident::embedding(table_, tokens), steps));
}

Tensor LanguageModel::read(const Texts& texts) const {
  expect(!texts.asked && !texts.lengths, name(), " names the word after each token, and knows no padding");
  return (*this)(texts.tokens, texts.steps);
}

Tensor LanguageModel::operator()(const Tensor&) const {
  throw Error(concat(name(), " reads texts, and takes no images"));
}

std::vector<Parameter> LanguageModel::parameters() const {
  std::vector<Parameter> list{{"embedding table", table_}};
  append(list, {lstm_.parameters("lstm"), out_.parameters("out")});
  return list;
}

std::string LanguageModel::name() const {
  return concat("lstm language model of ", table_.shape()[0], " words, ", lstm_.hidden(), " wide");
}

}  // namespace tinymp::nn
