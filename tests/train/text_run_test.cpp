#include <tests/train/resume.h>
#include <tinymp/nn/torch_layout.h>
#include <tinymp/nn/transformer.h>
#include <cmath>

// Runs on a text: from a plan to a log, and a checkpoint that goes on. The twins are transformers as torch.nn would have
// them, in double, on the tensors of a checkpoint.
namespace tinymp::test {
namespace {

using Kind = nn::Transformer::Kind;
using Values = std::vector<double>;

/// A text in which each token follows from the one before, but for a few.
data::Text made_up_text(std::int64_t tokens = 1200) {
  data::Text text{.name = "made up",
                  .vocabulary = {"<unk>", "a", "b", "c", "d", "e", "f"},
                  .train = {},
                  .validation = {}};
  Rng rng(4);
  std::int32_t token = 1;
  for (std::int64_t i = 0; i < tokens; ++i) {
    token = rng.below(20) == 0 ? static_cast<std::int32_t>(1 + rng.below(6)) : 1 + token * 3 % 7 % 6;
    (i < tokens * 9 / 10 ? text.train : text.validation).push_back(token);
  }
  return text;
}

Plan text_plan(const data::Text& text, Kind kind, const Recipe& recipe, std::int64_t steps,
               float dropout = 0) {
  Plan plan;
  plan.name = "text";
  plan.recipe = recipe;
  plan.seed = 5;
  plan.task = train::Task::name_tokens;
  const auto aim = kind == Kind::encoder ? data::TextAim::masked_tokens : data::TextAim::next_token;
  plan.text = train::TextPlan{.text = &text, .aim = aim, .context = 10};
  const nn::TransformerSizes sizes{.words = data::TextExamples::words_of(std::ssize(text.vocabulary), aim),
                                   .context = 10,
                                   .layers = 2,
                                   .width = 16,
                                   .heads = 2,
                                   .dropout = dropout};
  plan.model = [=](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::Transformer>(kind, sizes, r, rng);
  };
  plan.optimizer = made<Adam>({.lr = 0.01f});
  plan.steps = steps;
  plan.batch = 12;
  plan.log_every = 5;
  plan.validate_every = 10;
  return plan;
}

TEST_CASE("a run on a text learns it, as decoder and as encoder, in FP32 and in FP16 with dynamic scaling") {
  const data::Text text = made_up_text();
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    const bool masks = kind == Kind::encoder;  // it is asked for 2 tokens of 10, a decoder for all
    const std::int64_t steps = masks ? 200 : 60;
    for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::o1}) {
      Plan plan = text_plan(text, kind, recipe, steps);
      plan.shadow_every = has_narrow_gradients(recipe) ? 20 : 0;
      plan.histogram_every = 30;
      const OwnRun own;
      const Run run = train::run(plan, own.log());
      INFO(describe(recipe) << (kind == Kind::decoder ? ", decoder" : ", encoder"));
      REQUIRE(run.result.has_value());
      CHECK(run.header.metric == "validation loss");
      CHECK_FALSE(run.header.higher_is_better);
      CHECK(run.header.data == concat("made up (1080 train, 120 validation tokens, vocabulary 7), ",
                                      masks ? "masked tokens" : "the next token", ", texts of 10"));
      CHECK(std::fabs(run.steps.front().loss - std::log(7.0)) < 0.5);
      CHECK(run.result->value < (masks ? 1.2 : 0.4));                // a guess among 6 tokens: 1.79
      CHECK(run.steps.back().validation_loss == run.result->value);  // all of the validation text is measured
      CHECK(run.steps.back().metric == run.result->value);
      CHECK(run.steps.back().epoch == Approx(static_cast<double>(steps) * 12 / (masks ? 108.0 : 107.0)));
      CHECK(run.findings.empty());
    }
  }
}

TEST_CASE("a run on a text that stops goes on with the same bits, with dropout and masks too") {
  const data::Text text = made_up_text(400);
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    Plan plan = text_plan(text, kind, recipes::fp16_dynamic, 7, 0.1f);
    plan.saves = true;
    plan.save_every = 2;
    plan.log_every = 3;
    check_resumes(plan, {3, 4});
  }
}

TEST_CASE("a plan with a text has a model that reads it") {
  const data::Text text = made_up_text(200);
  Plan plan = text_plan(text, Kind::decoder, {}, 2);
  const OwnRun own;
  plan.task = train::Task::classify;
  CHECK_SAYS("asks a model of images for tokens", train::run(plan, own.log()));
  plan.task = train::Task::name_tokens;
  plan.model = train::model_of<nn::Mlp>({784, 5, 10});
  CHECK_SAYS("takes images, no texts", train::run(plan, own.log()));
  plan.text.reset();
  CHECK_SAYS("lacks its data", train::run(plan, own.log()));
  plan = text_plan(text, Kind::decoder, {}, 2);
  plan.loss = [](const Tensor& y, std::span<const std::int32_t> labels) { return cross_entropy(y, labels); };
  CHECK_SAYS("a loss of its own, which no measurement of a text would follow", train::run(plan, own.log()));
  plan.loss = {};
  plan.text->text = nullptr;
  CHECK_SAYS("lacks its data", train::run(plan, own.log()));
  const data::Split images;
  plan.data = &images;
  CHECK_SAYS("lacks its data", train::run(plan, own.log()));
  plan.text->text = &text;
  CHECK_SAYS("has images beside a text", train::run(plan, own.log()));
}

TEST_CASE("a text whose validation part is shorter than the context is refused before the first step") {
  const data::Text text = made_up_text(1200);
  Plan plan = text_plan(text, Kind::decoder, {}, 2);
  plan.text->context = 200, plan.batch = 1;
  for (const std::int64_t every : {0, 1}) {
    const OwnRun own;
    plan.validate_every = every;
    CHECK_SAYS("no text of 200 tokens can be cut from 120", train::run(plan, own.log()));
    CHECK(!std::filesystem::exists(own.log()));
  }
}

// Twins
// --------------------------------------------------------------

/// torch.nn on the tensors of a state dict, for one text: rows of (T,W).
struct Twin {
  const train::Safetensors& state;
  std::size_t heads = 2;

  Values of(const std::string& name) const {
    INFO(name);
    REQUIRE(state.tensors.contains(name));
    const train::StoredTensor& tensor = state.tensors.at(name);
    Values values(tensor.bytes.size() / 4);
    for (std::size_t i = 0; i < values.size(); ++i) {
      float x = 0;
      std::memcpy(&x, tensor.bytes.data() + 4 * i, 4);
      values[i] = static_cast<double>(x);
    }
    return values;
  }

  /// x W^T + b for each row; W:(O,I)
  Values linear(const Values& x, const std::string& layer) const {
    const Values w = of(layer + ".weight"), b = of(layer + ".bias");
    const std::size_t O = b.size(), I = w.size() / O;
    Values y;
    for (std::size_t row = 0; row < x.size() / I; ++row)
      for (std::size_t o = 0; o < O; ++o) {
        y.push_back(b[o]);
        for (std::size_t i = 0; i < I; ++i) y.back() += w[o * I + i] * x[row * I + i];
      }
    return y;
  }
  Values norm(Values x, const std::string& layer) const {
    const Values weight = of(layer + ".weight"), bias = of(layer + ".bias");
    const std::size_t W = weight.size();
    for (std::size_t row = 0; row < x.size(); row += W) {
      double mean = 0, variance = 0;
      for (std::size_t i = 0; i < W; ++i) mean += x[row + i] / static_cast<double>(W);
      for (std::size_t i = 0; i < W; ++i)
        variance += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(W);
      for (std::size_t i = 0; i < W; ++i)
        x[row + i] = (x[row + i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
    }
    return x;
  }
  static Values gelu(Values x) {
    for (double& v : x) v = v * (1 + std::erf(v / std::sqrt(2.0))) / 2;
    return x;
  }
  static Values sum(Values x, const Values& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
    return x;
  }
  Values attend(const Values& x, const std::string& block, bool causal, std::size_t W) const {
    const Values q = linear(x, block + ".query"), k = linear(x, block + ".key"),
                 v = linear(x, block + ".value");
    const std::size_t T = x.size() / W, D = W / heads;
    Values y(x.size());
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t t = 0; t < T; ++t) {
        Values p;
        double all = 0;
        for (std::size_t s = 0; s < (causal ? t + 1 : T); ++s) {
          double score = 0;
          for (std::size_t d = h * D; d < h * D + D; ++d) score += q[t * W + d] * k[s * W + d];
          p.push_back(std::exp(score / std::sqrt(static_cast<double>(D))));
          all += p.back();
        }
        for (std::size_t s = 0; s < p.size(); ++s)
          for (std::size_t d = h * D; d < h * D + D; ++d) y[t * W + d] += p[s] / all * v[s * W + d];
      }
    return linear(y, block + ".out");
  }
  Values change(const Values& x, const std::string& block) const {
    return linear(gelu(linear(x, block + ".first")), block + ".second");
  }
  Values embedded(const std::vector<std::int32_t>& tokens, std::size_t W) const {
    const Values table = of("embedding.weight"), positions = of("positions.weight");
    Values x;
    for (std::size_t t = 0; t < tokens.size(); ++t)
      for (std::size_t i = 0; i < W; ++i)
        x.push_back(table[static_cast<std::size_t>(tokens[t]) * W + i] + positions[t * W + i]);
    return x;
  }
  Values tied(const Values& x, std::size_t W) const {
    const Values table = of("embedding.weight");
    Values y;
    for (std::size_t row = 0; row < x.size(); row += W)
      for (std::size_t o = 0; o < table.size() / W; ++o) {
        y.push_back(0);
        for (std::size_t i = 0; i < W; ++i) y.back() += x[row + i] * table[o * W + i];
      }
    return y;
  }
};

Values decoder_twin(const Twin& twin, const std::vector<std::int32_t>& tokens, std::size_t W) {
  Values x = twin.embedded(tokens, W);
  for (const std::string block : {"blocks.0", "blocks.1"}) {
    x = Twin::sum(x, twin.attend(twin.norm(x, block + ".norm1"), block, true, W));
    x = Twin::sum(x, twin.change(twin.norm(x, block + ".norm2"), block));
  }
  return twin.tied(twin.norm(x, "norm"), W);
}

Values encoder_twin(const Twin& twin, const std::vector<std::int32_t>& tokens, std::size_t W) {
  Values x = twin.norm(twin.embedded(tokens, W), "norm");
  for (const std::string block : {"blocks.0", "blocks.1"}) {
    x = twin.norm(Twin::sum(x, twin.attend(x, block, false, W)), block + ".norm1");
    x = twin.norm(Twin::sum(x, twin.change(x, block)), block + ".norm2");
  }
  Values y = twin.tied(twin.norm(Twin::gelu(twin.linear(x, "transform")), "transform_norm"), W);
  const Values bias = twin.of("out.bias");
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
  return y;
}

TEST_CASE("a transformer's checkpoint in torch.nn gives the same logits: decoder and encoder") {
  const data::Text text = made_up_text(600);
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    Plan plan = text_plan(text, kind, recipes::fp32, 20);
    plan.saves = true;
    const OwnRun own;
    std::unique_ptr<nn::Model> model;
    static_cast<void>(train::run(plan, own.log(), {}, &model));
    const train::Safetensors file = train::load_safetensors(own.newest());
    const std::vector<std::int32_t> tokens{1, 6, 3, 0, 5, 2, 2};
    const Values ours = model->read({.tokens = Indices(tokens, Device::cpu), .steps = 7}).to_doubles();
    const Twin twin{file};
    const Values theirs =
        kind == Kind::decoder ? decoder_twin(twin, tokens, 16) : encoder_twin(twin, tokens, 16);
    REQUIRE(ours.size() == theirs.size());
    double largest = 0;
    for (const double v : theirs) largest = std::max(largest, std::fabs(v));
    for (std::size_t i = 0; i < ours.size(); ++i) CHECK(std::fabs(ours[i] - theirs[i]) <= 1e-5 * largest);
    std::vector<std::string> names;
    for (const auto& [name, tensor] : file.tensors)
      if (!name.starts_with("tinymp.")) names.push_back(name);
    CHECK(names.size() == model->parameters().size());
    CHECK(file.tensors.at("blocks.1.first.weight").shape == std::vector<std::int64_t>{64, 16});
    CHECK(file.tensors.at("positions.weight").shape == std::vector<std::int64_t>{10, 16});
  }
}

}  // namespace
}  // namespace tinymp::test
