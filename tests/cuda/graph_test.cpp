#include <kernels/graph.h>
#include <tests/cuda/device.h>
#include <tests/kernels/rig.h>
#include <tests/train/rig.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/ops/ops.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/graph_step.h>
#include <tinymp/train/memory.h>

/// Steps that are recorded as a graph: what they hold, what they refuse, and that they change no bit.
namespace tinymp::test {
namespace {

using Nodes = std::vector<std::string>;

/// FP8 with random rounding wherever there is one.
Recipe random_eight_bits() {
  Recipe recipe = recipes::fp8_e5m2;
  recipe.eight_bits.exempt = "last";
  recipe.rounding = {.weights = Rounding::stochastic,
                     .activations = Rounding::stochastic,
                     .errors = Rounding::stochastic,
                     .gradients = Rounding::stochastic,
                     .masters = Rounding::stochastic};
  recipe.scaling = StaticScaling{};
  return recipe;
}

/// FP8 with scales; a history of 4 steps goes round in a short run.
Recipe scaled_eight_bits(TensorScaling scaling) {
  Recipe recipe = recipes::fp8_hybrid;
  recipe.eight_bits.exempt = {};
  recipe.eight_bits.scaling = scaling;
  if (scaling == TensorScaling::delayed) recipe.eight_bits.history = 4;
  return recipe;
}

TEST_CASE("a graph does nothing when it is recorded, and its kernels each time it is launched") {
  NEEDS_CUDA();
  const Tensor x = from({1, 2, 3}, DType::f32).to(Device::cuda), sum = Tensor::like(x),
               copy = Tensor::like(x);
  kernels::accumulate(x.view(), copy.view());  // a kernel is loaded when it first runs
  kernels::fill(sum.view(), 0);
  const kernels::Graph graph([&] {
    kernels::accumulate(x.view(), sum.view());
    kernels::cast(sum.view(), copy.view());
  });
  CHECK(graph.nodes().size() == 2);
  CHECK(graph.nodes().back() == "copy");
  CHECK(sum.to_floats() == std::vector<float>{0, 0, 0});
  for (int launches = 0; launches < 3; ++launches) graph.launch();
  CHECK(copy.to_floats() == std::vector<float>{3, 6, 9});
}

TEST_CASE("a graph refuses what it cannot hold, and then kernels run as before") {
  NEEDS_CUDA();
  const Tensor x = from({1, 2, 3}, DType::f32).to(Device::cuda);
  const auto refused = [&](const std::function<void()>& step) -> std::string {
    try {
      const kernels::Graph graph(step);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(refused([&] { static_cast<void>(x.to_floats()); }), Contains("a copy from the device"));
  CHECK_THAT(refused([&] { static_cast<void>(from({1}, DType::f32).to(Device::cuda)); }),
             Contains("a copy to the device") || Contains("memory from the system"));
  const DeviceValue<int> value(Device::cuda);
  CHECK_THAT(refused([&] { value.write(1); }), Contains("a copy to the device"));
  CHECK_THAT(refused([&] {
               static_cast<void>(Tensor({1 << 20, 3}, DType::f64, Device::cuda));
             }),
             Contains("memory from the system"));
  CHECK_THAT(refused([&] { kernels::Graph inner([] {}); }), Contains("do not nest"));
  CHECK(x.to_floats() == std::vector<float>{1, 2, 3});
  kernels::scale(x.view(), 2, x.view());
  CHECK(x.to_floats() == std::vector<float>{2, 4, 6});
}

TEST_CASE("storage of a private pool keeps to its blocks") {
  const PrivatePool pool;
  const void* first = nullptr;
  {
    const PrivatePool::Region region(pool);
    first = Tensor({100}).view().memory;
    CHECK(Tensor({100}).view().memory == first);
  }
  CHECK(Tensor({100}).view().memory != first);
  const PrivatePool::Region region(pool);
  CHECK(Tensor({100}).view().memory == first);
}

TEST_CASE("a data set on the device makes the batches of the loader") {
  NEEDS_CUDA();
  data::Dataset grey = made_up_images(50, 1);
  data::Dataset colour = grey;
  colour.shape = {.rows = 14, .cols = 14, .channels = 3};  // 588 of the 784 bytes of each image
  colour.images.resize(static_cast<std::size_t>(50 * colour.shape.size()));
  data::Dataset wide = grey;
  wide.shape = {.rows = 14, .cols = 56, .channels = 1};
  const data::LoaderOptions plain, moved{.crop_and_flip = true}, inverted{.invert = true, .transpose = true},
      raw{.scale = data::PixelScale::raw, .transpose = true, .crop_and_flip = true},
      normal{.normalise = data::cifar10_statistics, .crop_and_flip = true};
  for (const data::Dataset* set : {&grey, &colour, &wide}) {
    for (const data::LoaderOptions& options : {plain, moved, inverted, raw, normal}) {
      for (const DType format : {DType::f32, DType::f16}) {
        data::Loader here(*set, 12, 7, options), there(*set, 12, 7, options);
        here.skip(), there.skip();  // a run that goes on begins within an epoch
        const Device device = format == DType::f16 && set == &grey ? Device::cpu : Device::cuda;
        const std::int64_t parts = set == &colour ? 3 : 1;
        train::ResidentData resident(*set, options, 12 / parts, parts, format, device);
        kernels::StepRecords counted;
        for (counted.steps = 3; counted.steps < 13; ++counted.steps) {  // two epochs end on the way
          const train::StepRecords records(device, counted);
          resident.follow(there, counted.steps);
          there.skip();
          for (std::int64_t i = 0; i < parts; ++i) {
            const data::Batch expected = here.part(i, parts), got = resident.next(records, i);
            CHECK(got.size() == 12 / parts);
            REQUIRE(bits_equal(got.images.to(Device::cpu), cast(expected.images, format)));
            std::vector<std::int32_t> labels(expected.labels.size());
            allocator(device).copy_out(labels.data(), got.there->view().data(),
                                       labels.size() * sizeof(std::int32_t));
            REQUIRE(labels == expected.labels);
          }
          here.skip();
        }
      }
    }
  }
}

bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// A run's log, as far as it says what was computed.
void expect_same_run(const train::Run& a, const train::Run& b) {
  REQUIRE(a.steps.size() == b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    const train::LogRecord &one = a.steps[i], &other = b.steps[i];
    INFO("step " << one.step);
    CHECK(one.step == other.step);
    CHECK(std::bit_cast<std::uint64_t>(one.loss) == std::bit_cast<std::uint64_t>(other.loss));
    CHECK(one.scale == other.scale);
    CHECK(one.skipped == other.skipped);
    CHECK(one.skips == other.skips);
    CHECK(one.lr == other.lr);
    CHECK(one.zero == other.zero);
    CHECK(one.subnormal == other.subnormal);
    CHECK(equal(one.grad_norm, other.grad_norm));
    CHECK(equal(one.absorbed, other.absorbed));
    CHECK(equal(one.flushed, other.flushed));
    CHECK(equal(one.validation_loss, other.validation_loss));
    CHECK(equal(one.metric, other.metric));
  }
  CHECK(a.result->value == b.result->value);
  CHECK(a.result->weights == b.result->weights);
  CHECK(a.result->taken == b.result->taken);
}

void check_run(train::Plan plan) {
  Scratch scratch;
  plan.device = Device::cuda;
  plan.saves = true;  // for the hash of its weights
  const train::Run eager = train::run(plan, scratch.next());
  plan.graph = true;
  const train::Run graph = train::run(plan, scratch.next());
  expect_same_run(eager, graph);
}

TEST_CASE("a run as a graph has the bits of the run kernel by kernel") {
  NEEDS_CUDA();
  const data::Split data = made_up_split();
  Recipe dynamic = recipes::fp16_dynamic;
  dynamic.scaling = DynamicScaling{.initial = 0x1p30f, .growth_interval = 3};  // skips, then grows
  Recipe automatic = recipes::fp32;
  automatic.autocast = DType::f16;
  for (const Recipe& recipe :
       {recipes::fp32, recipes::fp16_static, dynamic, automatic, random_eight_bits(),
        scaled_eight_bits(TensorScaling::delayed), scaled_eight_bits(TensorScaling::current)}) {
    INFO(describe(recipe));
    train::Plan plan = small_plan(data, recipe, 20);
    plan.log_every = 3;
    plan.shadow_every =
        recipe == dynamic || recipe.eight_bits.saturate ? 7 : 0;  // those steps run kernel by kernel
    plan.schedule = ScheduleKind::cosine;
    plan.clip = recipe == recipes::fp16_static ? 0.1f : 0;
    plan.pixels.crop_and_flip = recipe == recipes::fp32;
    check_run(plan);
  }
}

TEST_CASE("a run in micro-batches as a graph has the bits of the run kernel by kernel") {
  NEEDS_CUDA();
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp16_dynamic, scaled_eight_bits(TensorScaling::delayed)}) {
    INFO(describe(recipe));
    train::Plan plan = small_plan(data, recipe, 12);
    plan.batch = 8;
    plan.micro_batches = 3;
    plan.shadow_every = 5;
    plan.clip = 0.1f;
    check_run(plan);
  }
}

TEST_CASE("validation between the steps of a graph draws the random words of the run kernel by kernel") {
  NEEDS_CUDA();
  const data::Split data = made_up_split();
  train::Plan plan = small_plan(data, random_eight_bits(), 12);
  plan.validate_every = 4;
  check_run(plan);
}

TEST_CASE("steps kernel by kernel between those of a graph take none of its memory") {
  NEEDS_CUDA();
  const data::Split data = made_up_split();
  for (const std::int64_t every : {2, 3}) {
    train::Plan plan = small_plan(data, recipes::fp16_dynamic, 12);
    plan.shadow_every = every;
    plan.histogram_every = 5;
    check_run(plan);
  }
}

TEST_CASE("a run of LeNet, of an autoencoder and of a residual net as graphs") {
  NEEDS_CUDA();
  const data::Split data = made_up_split();
  train::Plan plan = small_plan(data, recipes::fp16_dynamic, 6);
  plan.batch = 4;
  plan.shadow_every = 0;
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); };
  check_run(plan);
  plan.model = [](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::ResNet>(1, nn::ResNet::Images{.size = 28, .channels = 1}, r, rng);
  };
  check_run(plan);
  plan.task = train::Task::reconstruct;
  plan.model = train::model_of<nn::Autoencoder>({784, 8, 784});
  check_run(plan);
}

TEST_CASE("a run as a graph goes on with the bits of one that was not stopped") {
  NEEDS_CUDA();
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp16_dynamic, scaled_eight_bits(TensorScaling::delayed)}) {
    INFO(describe(recipe));
    Scratch of_whole, of_parts;
    train::Plan plan = small_plan(data, recipe, 20);
    plan.device = Device::cuda;
    plan.graph = plan.saves = true;
    const train::Run whole = train::run(plan, of_whole.next());
    const std::string log = of_parts.next();
    int steps = 0;
    plan.stop = [&] { return ++steps == 11; };
    static_cast<void>(train::run(plan, log));
    plan.stop = {};
    plan.resume = std::filesystem::path(log).parent_path().string();
    const train::Run resumed = train::run(plan, log);
    CHECK(resumed.result->weights == whole.result->weights);
    CHECK(resumed.result->value == whole.result->value);
  }
}

TEST_CASE("a plan that no graph can hold is refused") {
  const data::Split data = made_up_split();
  Scratch scratch;
  train::Plan plan = small_plan(data);
  plan.graph = true;
  CHECK_THROWS_WITH(train::run(plan, scratch.next()), Catch::Matchers::Contains("the device cuda alone has"));
  CHECK(std::filesystem::is_empty(std::filesystem::path(scratch.next()).parent_path()));
  NEEDS_CUDA();
  plan.device = Device::cuda;
  plan.shadow_every = 0;
  plan.loss = [](const Tensor& y, std::span<const std::int32_t> labels) { return cross_entropy(y, labels); };
  CHECK_THROWS_WITH(train::run(plan, scratch.next()), Catch::Matchers::Contains("loss of its own"));
}

/// The nodes of a step of an image model in training.
Nodes nodes_of(const train::ModelMaker& model, const Recipe& recipe, const data::Dataset& images,
               std::int64_t batch) {
  const data::Split data{.train = images, .validation = images, .test = images};
  train::Plan plan = small_plan(data, recipe);
  plan.model = model;
  plan.batch = batch;
  plan.device = Device::cuda;
  plan.optimizer = train::optimizer_of<Adam>({.lr = 1e-3f});
  const std::unique_ptr<nn::Model> made = train::make_model(plan, recipe);
  const std::unique_ptr<Optimizer> optimizer = plan.optimizer(tensors(made->parameters()), recipe);
  LossScaler scaler(recipe.scaling);
  const Float8Products products = train::make_products(plan, *made);
  data::Loader loader = train::make_loader(plan);
  const train::StepRecords records(Device::cuda, kernels::StepRecords());
  train::GraphStep graph(plan, *made, *optimizer, scaler, products, loader, records);
  for (std::int64_t t = 0; t < 2; ++t) static_cast<void>(graph.take(t + 1, t));
  return graph.nodes();
}

std::string joined(const Nodes& nodes) {
  std::string text;
  for (const std::string& node : nodes) text += node + "\n";
  return text;
}

constexpr const char* of_newer_gpus =
    "the table is of GPUs with the rung mma, sm_80 and newer; older rungs add no bias";

TEST_CASE("a step of the MLP is twelve nodes") {
  NEEDS_CUDA();
  if (!has_mma()) SKIP_TEST(of_newer_gpus);
  const data::Dataset images = made_up_images(96, 1);
  const train::ModelMaker mlp = train::model_of<nn::Mlp>({784, 128, 10});
  const Recipe bf16{.compute = DType::bf16, .gradient = DType::bf16};
  for (const Recipe& recipe : {recipes::fp16_master, recipes::fp16_static, recipes::fp16_dynamic, bf16}) {
    const Nodes nodes = nodes_of(mlp, recipe, images, 64);
    INFO(describe(recipe) << "\n" << joined(nodes));
    CHECK(nodes.size() == 12);
  }
  // The rung of FP32 products adds neither bias nor relu.
  CHECK(nodes_of(mlp, recipes::fp32, images, 64).size() == 15);
}

/// Steps of the language model on one batch.
struct WordSteps {
  explicit WordSteps(const Recipe& recipe)
      : words(model_of(recipe)),
        optimizer(tensors(words.parameters()), {.lr = 0.01f}, recipe),
        scaler(recipe.scaling),
        products(words, recipe, 3),
        records(Device::cuda, kernels::StepRecords()) {}

  static nn::LanguageModel model_of(const Recipe& recipe) {
    Rng rng(1);
    nn::LanguageModel model(50, 8, recipe, rng);
    nn::move_to(model, Device::cuda);
    return model;
  }

  void take() {
    Tensor loss;
    products.begin_step();
    {
      const Float8Products::Region in_eight_bits(products);
      Tape tape(nullptr, scaler.seed(Device::cuda));
      loss = resident::cross_entropy(words(tokens, 4), next);
      tape.backward(loss);
    }
    products.end_step();
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients, 1);
    const DeviceValue<kernels::StepOutcome> outcome = optimizer.step(gradients, check);
    scaler.update(std::move(check), loss, outcome, records);
    optimizer.zero_grad();
  }

  const nn::LanguageModel words;
  Adam optimizer;
  LossScaler scaler;
  const Float8Products products;
  const train::StepRecords records;
  const std::vector<std::int32_t> some{5, 7, 7, 1, 0, 49, 3, 2, 8, 30, 31, 32};
  const Indices tokens{some, Device::cuda}, next{some, Device::cuda};
};

TEST_CASE("the nodes of a step of LeNet, ResNet-20 and the language model") {
  NEEDS_CUDA();
  if (!has_mma()) SKIP_TEST(of_newer_gpus);
  const Recipe recipe = recipes::fp16_dynamic;
  const Nodes lenet = nodes_of([](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); },
                               recipe, made_up_images(16, 1), 2);
  CHECK(lenet.size() == 36);
  data::Dataset colour = made_up_images(64, 1);
  colour.shape = {.rows = 32, .cols = 32, .channels = 3};
  colour.count = 64 * 784 / colour.shape.size();
  colour.images.resize(static_cast<std::size_t>(colour.count * colour.shape.size()));
  colour.labels.resize(static_cast<std::size_t>(colour.count));
  const Nodes resnet = nodes_of(
      [](const Recipe& r, Rng& rng) {
        return std::make_unique<nn::ResNet>(3, nn::ResNet::Images{.size = 32, .channels = 3}, r, rng);
      },
      recipe, colour, 2);
  CHECK(resnet.size() == 388);

  const PrivatePool pool;
  const PrivatePool::Region region(pool);
  WordSteps words(recipe);
  for (int i = 0; i < 2; ++i) words.take();
  const kernels::Graph graph([&] { words.take(); });
  CHECK(graph.nodes().size() == 203);
}

TEST_CASE("steps of the language model as a graph have the bits of steps kernel by kernel") {
  NEEDS_CUDA();
  Recipe often = recipes::fp16_dynamic;
  often.scaling = DynamicScaling{.initial = 1024, .growth_interval = 2};
  for (const Recipe& recipe : {recipes::fp32, often, random_eight_bits(),
                               scaled_eight_bits(TensorScaling::delayed), recipes::bf16_kahan}) {
    INFO(describe(recipe));
    WordSteps eager(recipe);
    for (int i = 0; i < 5; ++i) eager.take();
    const PrivatePool pool;
    const PrivatePool::Region region(pool);
    WordSteps launched(recipe);
    for (int i = 0; i < 2; ++i) launched.take();
    const kernels::Graph graph([&] { launched.take(); });
    for (int i = 0; i < 3; ++i) graph.launch();
    CHECK(
        bits_equal(launched.optimizer.weights().to(Device::cpu), eager.optimizer.weights().to(Device::cpu)));
    for (std::size_t m = 0; m < eager.optimizer.moments().size(); ++m)
      CHECK(bits_equal(launched.optimizer.moments()[m].to(Device::cpu),
                       eager.optimizer.moments()[m].to(Device::cpu)));
    const kernels::StepRecords one = launched.records.read(), other = eager.records.read();
    REQUIRE(one.steps == 5);
    for (int step = 0; step < 5; ++step) {
      CHECK(one.at[step].loss == other.at[step].loss);
      CHECK(one.at[step].scale == other.at[step].scale);
    }
  }
}

}  // namespace
}  // namespace tinymp::test
