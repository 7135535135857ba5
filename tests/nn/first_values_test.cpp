#include <tinymp/nn/first_values.h>

#include <tests/catch.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/tensor/storage.h>
#include <memory>
#include <vector>

/// Models without values: the same tensors, on Device::meta, and no draw.
namespace tinymp::test {
namespace {

std::vector<std::unique_ptr<nn::Module>> all_models(const Recipe& recipe, Rng& rng) {
  std::vector<std::unique_ptr<nn::Module>> models;
  models.push_back(std::make_unique<nn::LeNet>(recipe, rng));
  models.push_back(std::make_unique<nn::ResNet>(1, nn::ResNet::Images{}, recipe, rng));
  models.push_back(std::make_unique<nn::LanguageModel>(20, 8, recipe, rng));
  nn::TransformerSizes sizes{.words = 9, .context = 4, .width = 8, .heads = 2, .dropout = 0.1f};
  for (const auto kind : {nn::Transformer::Kind::decoder, nn::Transformer::Kind::encoder})
    models.push_back(std::make_unique<nn::Transformer>(kind, sizes, recipe, rng));
  sizes.classes = 2;
  models.push_back(std::make_unique<nn::Transformer>(nn::Transformer::Kind::encoder, sizes, recipe, rng));
  return models;
}

TEST_CASE("MetaParameters: a model has the shapes and formats of a real one, and draws nothing") {
  Rng rng(1), untouched(1), real(1);
  const std::size_t before = pool_statistics().bytes_in_use;
  const auto without = [&] {
    const nn::MetaParameters region;
    return all_models(recipes::o2, rng);
  }();
  CHECK(pool_statistics().bytes_in_use == before);
  CHECK(rng.seed() == untouched.seed());
  CHECK(rng.uniform(0, 1) == untouched.uniform(0, 1));
  const auto with = all_models(recipes::o2, real);
  for (std::size_t i = 0; i < with.size(); ++i) {
    INFO(with[i]->name());
    CHECK(without[i]->name() == with[i]->name());
    const auto a = without[i]->parameters(), b = with[i]->parameters();
    REQUIRE(a.size() == b.size());
    for (std::size_t p = 0; p < a.size(); ++p) {
      INFO(b[p].name);
      CHECK(a[p].name == b[p].name);
      CHECK(a[p].value.shape() == b[p].value.shape());
      CHECK(a[p].value.dtype() == b[p].value.dtype());
      CHECK(a[p].value.requires_grad());
      CHECK(a[p].value.device() == Device::meta);
      CHECK(b[p].value.device() == Device::cpu);
    }
    const auto x = without[i]->buffers(), y = with[i]->buffers();
    REQUIRE(x.size() == y.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      CHECK(x[k].shape() == y[k].shape());
      CHECK(x[k].dtype() == y[k].dtype());
      CHECK(x[k].device() == Device::meta);
    }
  }
}

TEST_CASE("filled: one value everywhere") {
  CHECK(nn::filled({2, 2}, DType::f16, 0.5).to_floats() == std::vector<float>(4, 0.5f));
  CHECK_FALSE(nn::filled({2}, DType::f32, 1).requires_grad());
}

}  // namespace
}  // namespace tinymp::test
