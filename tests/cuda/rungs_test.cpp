#include <kernels/cuda/gemm/ladder.h>
#include <kernels/profile.h>
#include <tests/cuda/device.h>
#include <tests/kernels/rig.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/ops/ops.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

/// The kernel that each product of each model of the course ends up with, as its launch tells it. The table is
/// rungs.txt; TINYMP_WRITE_RUNGS=1 writes it anew. Batches are small: the number of rows chooses no rung.
namespace tinymp::test {
namespace {

using Loss = std::function<Tensor(const nn::Model&)>;

constexpr Recipe bf16{.compute = DType::bf16, .gradient = DType::bf16};
constexpr std::int64_t batch = 2;
const std::vector<std::int32_t> labels{3, 1};

Tensor images(std::int64_t values) { return drawn({batch, values}, DType::f32, 1, 1).to(Device::cuda); }

/// One whole step; what its products ran on, a line each, in order of their names.
std::vector<std::string> products_of(const std::string& name, const nn::Module& model, const Recipe& recipe,
                                     const std::function<Tensor()>& loss) {
  nn::move_to(model, Device::cuda);
  Sgd optimizer(tensors(model.parameters()), {.lr = 0.01f}, recipe);
  LossScaler scaler(recipe.scaling);
  const Float8Products products(model, recipe);
  const kernels::Profile profile;
  products.begin_step();
  {
    const Float8Products::Region in_eight_bits(products);
    Tape tape;
    tape.backward(scaler.scale(loss()));
  }
  products.end_step();
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  optimizer.step(gradients, check);
  std::vector<std::string> lines;
  for (const kernels::ProfileLine& line : profile.lines()) {
    if (line.kernel.starts_with("gemm") || line.kernel.starts_with("conv2d"))
      lines.push_back(
          concat(name, ": ", line.kernel, " ", line.operands, ": ", line.way.empty() ? "-" : line.way));
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> all_products() {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& lines) {
    all.insert(all.end(), lines.begin(), lines.end());
  };
  const auto classify = [](const nn::Model& model, std::int64_t values) {
    return [&model, values] { return cross_entropy(model(images(values)), labels); };
  };
  Rng rng(1);
  for (const auto& [format, recipe] : {std::pair{"f16", recipes::fp16_dynamic}, std::pair{"bf16", bf16}}) {
    const nn::Mlp mlp({784, 128, 10}, recipe, rng);
    add(products_of(concat("MLP, ", format), mlp, recipe, classify(mlp, 784)));
  }
  const Recipe recipe = recipes::fp16_dynamic;
  for (const std::vector<std::int64_t>& widths : std::initializer_list<std::vector<std::int64_t>>{
           {784, 10}, {784, 64, 10}, {784, 65, 64, 10}, {784, 64, 64, 64, 10}, {784, 128, 128, 128, 10}}) {
    const nn::Mlp mlp(widths, recipe, rng);
    add(products_of(mlp.name(), mlp, recipe, classify(mlp, 784)));
  }
  const nn::BatchNormMlp norms({784, 64, 10}, recipe, rng);
  add(products_of(norms.name(), norms, recipe, classify(norms, 784)));
  const nn::ResidualMlp residual(64, 2, recipe, rng);
  add(products_of(residual.name(), residual, recipe, classify(residual, 784)));
  Recipe narrow_sums = recipe;
  narrow_sums.accumulate = DType::f16;
  for (const auto& [format, of] : {std::pair{"bf16", bf16}, std::pair{"fp8_hybrid", recipes::fp8_hybrid},
                                   std::pair{"FP16 sums", narrow_sums}}) {
    const nn::LeNet lenet(of, rng);
    add(products_of(concat("LeNet, ", format), lenet, of, classify(lenet, 784)));
  }
  const nn::Autoencoder coder({784, 64, 32, 64, 784}, recipe, rng);
  add(products_of("autoencoder", coder, recipe, [&] { return mse(coder(images(784)), images(784)); }));
  const nn::LeNet lenet(recipe, rng);
  add(products_of("LeNet", lenet, recipe, classify(lenet, 784)));
  const nn::ResNet resnet(3, {.size = 32, .channels = 3}, recipe, rng);
  add(products_of("ResNet-20", resnet, recipe, classify(resnet, 32 * 32 * 3)));
  const nn::LanguageModel words(8192, 32, recipe, rng);
  const std::vector<std::int32_t> text{5, 8191, 17, 400};
  add(products_of("word model", words, recipe, [&] { return cross_entropy(words(text, 2), text); }));
  const Indices tokens(std::vector<std::int32_t>(12, 5), Device::cuda),
      asked(std::vector<std::int32_t>{1, 7}, Device::cuda);
  for (const bool masks : {false, true}) {
    const nn::Transformer transformer(masks ? nn::Transformer::Kind::encoder : nn::Transformer::Kind::decoder,
                                      {.words = 66, .context = 6, .layers = 1}, recipe, rng);
    const Texts texts{.tokens = tokens, .steps = 6, .asked = masks ? std::optional(asked) : std::nullopt};
    add(products_of(masks ? "encoder" : "decoder", transformer, recipe, [&] {
      return cross_entropy(transformer.read(texts), std::vector<std::int32_t>(masks ? 2 : 12, 5));
    }));
  }
  return all;
}

const std::filesystem::path table = std::filesystem::path(__FILE__).parent_path() / "rungs.txt";

/// The table is of GPUs that multiply FP8. Others convert it first.
std::string here(std::string line) {
  const std::string_view in_eight_bits = "mma of FP8";
  if (line.ends_with(in_eight_bits) && !multiplies_float8())
    line.replace(line.size() - in_eight_bits.size(), in_eight_bits.size(), "mma as f16");
  return line;
}

TEST_CASE("rungs: every product of a model runs where the committed table says, and that is mma") {
  NEEDS_CUDA();
  const std::vector<std::string> lines = all_products();
  if (!has_mma()) SKIP_TEST("the table is of GPUs with the rung mma, sm_80 and newer");
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(line.find(": mma") != std::string::npos);
  }
  if (!std::filesystem::exists(table.parent_path()))
    SKIP_TEST("the sources do not lie where this test was compiled");
  if (std::getenv("TINYMP_WRITE_RUNGS") != nullptr) {
    std::ofstream out(table);
    for (const std::string& line : lines) out << line << "\n";
  }
  std::vector<std::string> committed;
  std::ifstream in(table);
  for (std::string line; std::getline(in, line);) committed.push_back(here(line));
  REQUIRE(lines.size() == committed.size());
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(lines[i] == committed[i]);
}

}  // namespace
}  // namespace tinymp::test
