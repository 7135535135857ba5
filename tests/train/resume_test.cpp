#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <tests/train/resume.h>
#include <tests/train/small_disk.h>
#include <cstdlib>

// A run that was stopped and goes on ends with the bits of one that was never stopped.
namespace tinymp::test {
namespace {

constexpr Recipe bf16{.compute = DType::bf16, .gradient = DType::bf16};

struct NamedOptimizer {
  const char* name;
  train::OptimizerMaker make;
};
std::vector<NamedOptimizer> optimizers() {
  return {{"sgd", made<Sgd>({.lr = 0.05f, .momentum = 0.9f, .weight_decay = 1e-3f})},
          {"adam", made<Adam>({.lr = 1e-3f})},
          {"adamw", made<AdamW>({.lr = 1e-3f})},
          {"adagrad", made<Adagrad>({.lr = 1e-2f})}};
}
std::vector<Recipe> all_recipes() {
  Recipe eight_bits = recipes::fp8_e5m2;  // whose random words go on
  eight_bits.rounding.activations = eight_bits.rounding.errors = Rounding::stochastic;
  Recipe delayed = recipes::fp8_hybrid, current = delayed;  // whose scales go on
  delayed.eight_bits.exempt = {}, current.eight_bits.exempt = {};
  delayed.eight_bits.history = 3;
  current.eight_bits.scaling = TensorScaling::current;
  return {delayed,
          current,
          recipes::fp32,
          recipes::fp16_dynamic,
          bf16,
          recipes::fp16_weights,
          recipes::fp16_static,
          recipes::o1,
          recipes::o2,
          recipes::o3,
          recipes::bf16_sr,
          recipes::bf16_kahan,
          recipes::fp16_sr,
          eight_bits};
}

TEST_CASE("a resumed run has the bits of one that was never stopped: every optimizer and recipe") {
  const data::Split data = made_up_split();
  for (const NamedOptimizer& optimizer : optimizers()) {
    for (const Recipe& recipe : all_recipes()) {
      INFO(optimizer.name << ", " << describe(recipe));
      Plan plan = saving_plan(data, recipe);
      plan.model = train::model_of<nn::Mlp>({784, 6, 10});
      plan.optimizer = optimizer.make;
      plan.optimizer_name = optimizer.name;
      const bool thorough = recipe == recipes::fp16_dynamic && optimizer.name == std::string("adam");
      const Outcome outcome = check_resumes(
          plan, thorough ? std::vector<std::int64_t>{1, 2, 4, 6} : std::vector<std::int64_t>{5});
      CHECK(outcome.checkpoints.size() == 1);
    }
  }
}

TEST_CASE("a resumed run has the bits of one that was never stopped: every kind of model") {
  const data::Split data = made_up_split();
  const nn::ResNet::Images images{.size = 28, .channels = 1};
  const std::vector<std::pair<const char*, train::ModelMaker>> models{
      {"batch norm", train::model_of<nn::BatchNormMlp>({784, 6, 5, 10})},
      {"residual", [](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResidualMlp>(6, 2, r, rng); }},
      {"lenet", [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); }},
      {"resnet", [=](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResNet>(1, images, r, rng); }},
      {"dropout", [](const Recipe& r, Rng& rng) { return std::make_unique<Dropping>(r, rng); }}};
  for (const auto& [name, model] : models) {
    const bool slow = name == std::string("lenet") || name == std::string("resnet");
    for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, bf16, recipes::o2}) {
      if (slow && (recipe == bf16 || recipe == recipes::fp32)) continue;
      INFO(name << ", " << describe(recipe));
      Plan plan = saving_plan(data, recipe, slow ? 4 : 7);
      if (slow) plan.batch = 2;
      plan.model = model;
      plan.optimizer = made<Adam>({.lr = 1e-3f});
      check_resumes(plan, {3});
    }
  }
}

TEST_CASE("a resumed run goes on with its schedule, clipping, shadow, histograms and skipped steps") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 0x1p24f, .growth_interval = 2};  // skips at first, and grows
  Plan plan = saving_plan(data, recipe, 16);
  plan.model = train::model_of<nn::Mlp>({784, 6, 10});
  plan.schedule = ScheduleKind::cosine;
  plan.warmup = 3;
  plan.clip = 0.5f;
  plan.shadow_every = 5;
  plan.histogram_every = 4;
  plan.pixels.crop_and_flip = true;
  const Outcome outcome = check_resumes(plan, {1, 2, 3, 7, 8, 11, 15});
  CHECK(outcome.log.back().find("\"skipped\":0,") == std::string::npos);
}

TEST_CASE("a resumed run knows the steps that the floors of enhanced scaling count") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = EnhancedScaling{.dynamic = {.initial = 0x1p24f, .growth_interval = 2},
                                   .floor = scale_floors_from("3:4194304,6:8388608")};
  Plan plan = saving_plan(data, recipe, 10);
  plan.model = train::model_of<nn::Mlp>({784, 6, 10});
  const Outcome outcome = check_resumes(plan, {1, 2, 4, 5, 6, 9});
  // Every step overflows: S backs off from 2^24 to 2^22 and is lifted to 2^23 after step 6.
  CHECK(outcome.log.back().find("\"skipped\":10,") != std::string::npos);
  const OwnRun run;
  Plan stopped = plan;
  stopped.stop = [now = 0]() mutable { return ++now == 7; };
  static_cast<void>(train::run(stopped, run.log()));
  train::Safetensors contents = train::load_safetensors(run.newest());
  const std::string moment = contents.metadata.at("tinymp.moment");
  CHECK(moment.find("\"scale\":8388608.0") != std::string::npos);
  CHECK(moment.find("\"scaled_steps\":7") != std::string::npos);

  // Other policies have no count, as before there was one.
  plan.recipe.scaling = DynamicScaling{.initial = 0x1p24f};
  const OwnRun dynamic;
  stopped = plan;
  stopped.stop = [now = 0]() mutable { return ++now == 3; };
  static_cast<void>(train::run(stopped, dynamic.log()));
  contents = train::load_safetensors(dynamic.newest());
  CHECK(contents.metadata.at("tinymp.moment").find("scaled_steps") == std::string::npos);
}

TEST_CASE("a resumed run reports the same findings at the same lines") {
  const data::Split data = made_up_split();
  SECTION("weights that diverge, long after the last copy") {
    Plan plan = saving_plan(data, recipes::fp16_weights, 150);
    plan.model = train::model_of<nn::Mlp>({784, 4, 10});
    plan.batch = 8;
    plan.optimizer = sgd(1e5f);
    plan.warmup = 149;
    plan.save_every = 30;
    plan.log_every = 70;
    const Outcome outcome = check_resumes(plan, {1, 40, 70, 100, 134, 145});
    CHECK(
        std::ranges::any_of(outcome.log, [](const std::string& l) { return l.starts_with("{\"finding\""); }));
  }
  SECTION("an infinity that is known, then one that breaks the loss") {
    Plan plan = saving_plan(data, recipes::fp16_master, 9);
    plan.model = custom(
        [](const std::vector<nn::Linear>& layers, const Tensor& images) {
          std::vector<float> values(static_cast<std::size_t>(images.shape()[0]) * 11, 0.0f);
          for (std::size_t i = 10; i < values.size(); i += 11) values[i] = -1e9f;
          const Tensor mask = cast(Tensor::from({images.shape()[0], 11}, values), DType::f16);
          return add(logits_of(layers, images), mask);
        },
        11);
    plan.optimizer = sgd(1e4f);
    plan.warmup = 8;
    const Outcome outcome = check_resumes(plan, {1, 2, 3, 5, 8});
    CHECK(std::ranges::count_if(outcome.log,
                                [](const std::string& l) { return l.starts_with("{\"finding\""); }) == 2);
  }
}

TEST_CASE("a run without logged steps for long looks for faults at the same steps when it goes on") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp32, 200);
  plan.model = train::model_of<nn::Mlp>({784, 2, 10});
  plan.batch = 2;
  plan.log_every = 1000;
  plan.save_every = 50;
  check_resumes(plan, {100, 130, 170});
}

/// A buffer that one batch makes infinite, by no op that a search could find.
class Poisoned : public Custom {
 public:
  Poisoned(const Recipe& recipe, Rng& rng, std::vector<float> fatal)
      : Custom(recipe, rng, logits_of),
        fatal_(std::move(fatal)),
        buffer_(Tensor::from({1}, std::vector<float>{1})) {}
  Tensor operator()(const Tensor& images) const override {
    if (Tape::current() != nullptr && images.to_floats() == fatal_)
      *buffer_.data<float>() = static_cast<float>(infinity);
    return Custom::operator()(images);
  }
  std::vector<Tensor> buffers() const override { return {buffer_}; }

 private:
  std::vector<float> fatal_;
  Tensor buffer_;
};

TEST_CASE("a stop between two searches moves neither of them") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp32, 270);
  plan.batch = 2;
  plan.log_every =
      70;  // a search after step 134 and one after 270, although 263 - 134 are more than 128 steps
  plan.save_every = 1000;
  plan.model = [fatal = images_of_step(plan, 250)](const Recipe& r, Rng& rng) {
    return std::make_unique<Poisoned>(r, rng, fatal);
  };
  const Outcome outcome = check_resumes(plan, {100, 263});
  REQUIRE(outcome.log.size() == 8);  // header, five steps, the finding, the result
  CHECK(outcome.log[6].find("when steps 135 to 270 were run again") != std::string::npos);
}

TEST_CASE("kept checkpoints: the last so many, and a run goes on from any of them") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic, 9);
  plan.keep = 2;
  const Outcome outcome = check_resumes(plan, {5});
  std::vector<std::string> names;
  for (const auto& entry : outcome.checkpoints) names.push_back(entry.first);
  CHECK(names == std::vector<std::string>{"checkpoint-8.safetensors", "checkpoint-9.safetensors",
                                          "checkpoint.safetensors"});
  CHECK(outcome.checkpoints.at("checkpoint-9.safetensors") ==
        outcome.checkpoints.at("checkpoint.safetensors"));

  const OwnRun run;
  static_cast<void>(train::run(plan, run.log()));
  plan.resume = run.folder / "checkpoint-8.safetensors";  // of a run that is finished
  const std::string whole = text_of(run.log());
  bool is_kept = false;
  static_cast<void>(train::run(plan, run.log(), [&](const Plan&, const train::LogRecord&) {
    is_kept = text_of(run.log() + ".finished") == whole;
  }));
  CHECK(is_kept);
  CHECK_FALSE(fs::exists(run.log() + ".finished"));  // it has its result again
  check_same(outcome, finish(plan, run));

  const std::size_t second = whole.find('\n') + 1, third = whole.find('\n', second) + 1;
  std::ofstream(run.log(), std::ios::binary) << whole.substr(0, second) + whole.substr(third);  // a line less
  CHECK_SAYS("do not end at step 8, where the checkpoint is", train::run(plan, run.log()));
  CHECK(text_of(run.log()).size() == whole.size() - (third - second));
  fs::remove(run.newest());
  fs::remove(run.folder / "checkpoint-9.safetensors");
  plan.resume = run.folder.path.string();
  std::ofstream(run.log(), std::ios::binary) << whole;
  check_same(outcome, finish(plan, run));  // from the newest copy
}

TEST_CASE("a finished run stays as it is when it is resumed") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic, 4);
  const OwnRun run;
  std::unique_ptr<nn::Model> model, again;
  const Run first = train::run(plan, run.log(), {}, &model);
  const std::string log = text_of(run.log());
  CHECK(first.result->weights.size() == 16);
  plan.resume = run.folder.path.string();
  int steps = 0;
  const Run second = train::run(
      plan, run.log(), [&](const Plan&, const train::LogRecord&) { ++steps; }, &again);
  CHECK(steps == 0);
  CHECK(text_of(run.log()) == log);
  CHECK(second.result->weights == first.result->weights);
  CHECK(bits_of(*again) == bits_of(*model));
}

TEST_CASE("a checkpoint from before roundings were in it goes on, and means rounding to nearest") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp16_dynamic, recipes::bf16_kahan}) {
    Plan plan = saving_plan(data, recipe, 6);
    const OwnRun whole, run;
    const Outcome expected = finish(plan, whole);
    Plan stopped = plan;
    stopped.stop = [&, t = 0]() mutable { return ++t == 4; };
    static_cast<void>(train::run(stopped, run.log()));
    train::Safetensors older = train::load_safetensors(run.newest());
    auto known = nlohmann::json::parse(older.metadata.at("tinymp.plan"));
    for (const RoundingField& field : rounding_fields) CHECK(known.erase(concat("recipe.", field.key)) == 1);
    CHECK(known.erase("recipe.kahan") == 1);
    for (const char* const key :
         {"forward", "backward", "gradient", "saturates", "exempt", "scaling", "margin", "history", "amax"})
      CHECK(known.erase(concat("recipe.fp8_", key)) == 1);
    older.metadata["tinymp.plan"] = known.dump();
    older.metadata.erase(train::seal_key);
    train::save_safetensors("the checkpoint", run.newest(), older);
    plan.resume = run.folder.path.string();
    if (recipe.kahan)
      CHECK_SAYS("its \"recipe.kahan\" is nothing, and here it is true", train::run(plan, run.log()));
    else
      CHECK(finish(plan, run).weights == expected.weights);
  }
}

TEST_CASE("a log that was cut in the midst of a line, or that lost its result, goes on") {
  const data::Split data = made_up_split();
  const Plan plan = saving_plan(data, recipes::fp16_dynamic, 6);
  const OwnRun whole;
  const Outcome expected = finish(plan, whole);
  Plan resumed = plan;
  for (const std::size_t cut : {std::size_t{1}, std::size_t{40}}) {
    const OwnRun run;
    copy_run(whole, run);
    fs::resize_file(run.log(), fs::file_size(run.log()) - cut);
    resumed.resume = run.folder.path.string();
    check_same(expected, finish(resumed, run));
  }
}

TEST_CASE("a run that lost its result alone measures it again with the same random words") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp8_e5m2;
  recipe.eight_bits.exempt = {};
  recipe.rounding.activations = recipe.rounding.weights = Rounding::stochastic;
  Plan plan = saving_plan(data, recipe, 6);
  plan.task = train::Task::reconstruct;  // its result is a mean of errors, where each rounding shows
  plan.model = train::model_of<nn::Autoencoder>({784, 6, 784});
  for (const std::int64_t validate_every : {0, 4}) {
    plan.validate_every = validate_every;
    const OwnRun whole, run;
    const Outcome expected = finish(plan, whole);
    copy_run(whole, run);
    fs::resize_file(run.log(), fs::file_size(run.log()) - 40);  // in the midst of its result
    Plan resumed = plan;
    resumed.resume = run.folder.path.string();
    check_same(expected, finish(resumed, run));
    check_resumes(plan, {4, 5});
  }
}

TEST_CASE("a log goes on whatever lies behind the lines of its checkpoint, as after a loss of power") {
  const data::Split data = made_up_split();
  const Plan plan = saving_plan(data, recipes::fp16_dynamic, 6);
  const OwnRun whole;
  const Outcome expected = finish(plan, whole);
  Plan resumed = plan;
  for (const std::string& behind : {std::string(5000, '\0') + "\n", std::string("{\"loss\":\n\n[")}) {
    const OwnRun run;
    copy_run(whole, run);
    fs::resize_file(run.log(), fs::file_size(run.log()) - 40);  // in the midst of its result
    std::ofstream(run.log(), std::ios::binary | std::ios::app) << behind;
    CHECK_THROWS_AS(train::load_run(run.log()), Error);
    resumed.resume = run.folder.path.string();
    check_same(expected, finish(resumed, run));
  }
}

TEST_CASE("what does not belong to the run is refused, with the difference, and nothing changes") {
  const data::Split data = made_up_split();
  const Plan plan = saving_plan(data, recipes::fp16_dynamic, 6);
  const OwnRun run;
  static_cast<void>(finish(plan, run));
  fs::remove(run.log() + ".part");
  const std::string log = text_of(run.log());
  const auto refused = [&](auto change) {
    Plan other = plan;
    other.resume = run.folder.path.string();
    change(other);
    const std::string message = message_of([&] { static_cast<void>(train::run(other, run.log())); });
    CHECK(text_of(run.log()) == log);
    return message;
  };
  const auto check = [&](const std::string& part, auto change) {
    const std::string message = refused(change);
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  };
  check(
      "checkpoint.safetensors: a checkpoint of another run: its \"model\" is \"mlp 784-12-10\", and here it "
      "is "
      "\"mlp 784-5-10\"",
      [](Plan& p) {
        p.model = train::model_of<nn::Mlp>({784, 5, 10});
      });
  check("its \"recipe.compute\" is \"f16\", and here it is \"f32\"",
        [](Plan& p) { p.recipe = recipes::fp32; });
  check("its \"recipe.scaling.initial\" is 65536.0, and here it is 8.0",
        [](Plan& p) { p.recipe.scaling = DynamicScaling{.initial = 8}; });
  check("its \"recipe.scaling\" is \"dynamic\", and here it is \"none\"",
        [](Plan& p) { p.recipe.scaling = NoScaling{}; });
  check("its \"recipe.kahan\" is false, and here it is true", [](Plan& p) {
    p.recipe.master = DType::f16;
    p.recipe.kahan = true;
    p.resume += "/checkpoint.safetensors";
  });
  check("its \"seed\" is 0, and here it is 1", [](Plan& p) { p.seed = 1; });
  check("its \"steps\" is 6, and here it is 7", [](Plan& p) { p.steps = 7; });
  check("its \"batch\" is 40, and here it is 41", [](Plan& p) { p.batch = 41; });
  check("its \"optimizer.rule\" is \"Sgd\", and here it is \"Adam\"",
        [](Plan& p) { p.optimizer = adam(0.05f); });
  check("its \"optimizer.lr\" is ", [](Plan& p) { p.optimizer = sgd(0.1f); });
  check("its \"schedule\" is \"constant\", and here it is \"cosine\"",
        [](Plan& p) { p.schedule = ScheduleKind::cosine; });
  check("its \"schedule.warmup\" is 0, and here it is 2", [](Plan& p) { p.warmup = 2; });
  check("its \"optimizer.clip\" is 0.0, and here it is 1.0", [](Plan& p) { p.clip = 1; });
  check("its \"log_every\" is 3, and here it is 4", [](Plan& p) { p.log_every = 4; });
  check("its \"task\" is ", [](Plan& p) { p.task = train::Task::reconstruct; });
  check("its \"pixels.invert\" is false, and here it is true", [](Plan& p) { p.pixels.invert = true; });
  check("its \"pixels.deviation.0\" is nothing, and here it is 1.0",
        [](Plan& p) { p.pixels.normalise = data::ChannelStatistics{}; });
  data::Split other = made_up_split();
  other.train = made_up_images(95, 1);
  check("its \"data\" is \"made up (96 train, ", [&](Plan& p) { p.data = &other; });
  check("there is no such run", [&](Plan& p) { p.resume = run.folder / "none"; });
  fs::rename(run.log(), run.log() + ".away");
  Plan resumed = plan;
  resumed.resume = run.folder.path.string();
  CHECK_SAYS("cannot go on with the run log " + run.log() + ": there is none",
             train::run(resumed, run.log()));
}

TEST_CASE("a log of another run, or one that is too short, is refused") {
  const data::Split data = made_up_split();
  const Plan plan = saving_plan(data, recipes::fp16_dynamic, 6);
  Plan resumed = plan;
  const OwnRun run;
  static_cast<void>(finish(plan, run));
  resumed.resume = run.folder.path.string();
  const std::string text = text_of(run.log());
  {
    std::ofstream(run.log(), std::ios::binary) << text.substr(0, text.find('\n') + 1);
    CHECK_SAYS("it has fewer than the 3 lines of its checkpoint", train::run(resumed, run.log()));
  }
  fs::remove(run.newest());  // interrupted before the first checkpoint
  Plan other = resumed;
  other.seed = 7;
  CHECK_SAYS("it is of another run: its seed is 0, and here it is 7", train::run(other, run.log()));
  other = resumed;
  other.recipe = recipes::fp32;
  CHECK_SAYS("its recipe is ", train::run(other, run.log()));
  std::ofstream(run.log(), std::ios::binary) << text;
  CHECK_SAYS("the run is finished, and there is no checkpoint beside it", train::run(resumed, run.log()));
}

TEST_CASE("a disk that runs full or read-only in the midst of a run keeps log and checkpoint") {
  SmallDisk disk(400);
  if (!disk.mounted) SKIP_TEST("mounting a small tmpfs needs Linux and root");
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic, 8);
  plan.log_every = 100;  // a checkpoint is what does not fit
  const OwnRun whole;
  const Outcome expected = finish(plan, whole);
  const std::string log = disk / "run.jsonl", newest = disk / "checkpoint.safetensors";
  std::string before;
  const auto stop_at = [&](std::int64_t step, auto action) {
    return [&, step, action, now = std::int64_t{0}]() mutable {
      if (++now == step) {
        before = text_of(newest);
        action();
      }
      return false;
    };
  };
  plan.stop = stop_at(5, [&] { disk.fill(); });
  CHECK_SAYS("cannot write the checkpoint " + newest + ": No space left on device", train::run(plan, log));
  CHECK(text_of(newest) == before);
  CHECK(train::load_run(log).steps.size() == 1);
  fs::remove(disk / "ballast");
  plan.resume = fs::path(log).parent_path().string();
  plan.stop = {};
  disk.make_read_only();
  const std::string read_only = message_of([&] { static_cast<void>(train::run(plan, log)); });
  INFO(read_only);
  CHECK(read_only.find("Read-only file system") != std::string::npos);
  CHECK(text_of(newest) == before);
  CHECK(train::load_run(log).steps.size() == 1);
  const OwnRun elsewhere;
  fs::copy(log, elsewhere.log());
  fs::copy(newest, elsewhere.newest());
  plan.resume = elsewhere.folder.path.string();
  check_same(expected, finish(plan, elsewhere));
}

/// Trains until the disk is full and checks what is left. Returns the name of the file that did not fit; "" when all
/// fitted.
std::string file_that_did_not_fit(const Plan& plan, const SmallDisk& disk) {
  const std::string folder = disk.folder.path.string();
  const std::string said = message_of([&] { static_cast<void>(train::run(plan, disk / "run.jsonl")); });
  if (said == "(nothing was thrown)") return "";
  INFO(said);
  check_readable(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    CHECK(entry.path().extension() != ".part");
  const std::size_t path = said.find(folder), end = said.find(": No space left on device; free some space");
  REQUIRE((path != std::string::npos && end != std::string::npos));
  const std::size_t name = path + folder.size() + 1;
  return said.substr(name, end - name);
}

TEST_CASE("a disk that runs full at whatever write: it is named, all is readable, and the run goes on") {
  if (!SmallDisk(8).mounted) SKIP_TEST("mounting a small tmpfs needs Linux and root");
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic, 8);
  plan.model = train::model_of<nn::Mlp>({784, 2, 10});
  plan.optimizer = made<Adam>({.lr = 1e-3f});
  plan.log_every = 1;
  plan.histogram_every = 1;  // long lines
  plan.keep = 2;
  const OwnRun whole;
  const Outcome expected = finish(plan, whole);
  std::map<std::string, int> failed;  // how often, by the file's name
  const auto check_goes_on = [&](SmallDisk& disk) {
    disk.grow(4096);
    fs::remove(disk / "ballast");
    Plan resumed = plan;
    resumed.resume = disk.folder.path.string();
    check_same(expected, finish_in(resumed, disk.folder.path));
  };
  for (int kilobytes = 4; kilobytes < 4000; kilobytes += 4) {
    INFO(kilobytes << " kB");
    SmallDisk disk(kilobytes);
    const std::string name = file_that_did_not_fit(plan, disk);
    if (name.empty()) break;
    ++failed[name];
    check_goes_on(disk);
  }
  for (std::int64_t full = 1; full <= 7; ++full) {
    INFO("full after step " << full);
    SmallDisk disk(512);
    Plan filled = plan;
    filled.stop = [&, step = std::int64_t{0}]() mutable {
      if (++step == full) disk.fill();
      return false;
    };
    ++failed[file_that_did_not_fit(filled, disk)];
    check_goes_on(disk);
  }
  for (const char* const file : {"run.jsonl", "checkpoint-2.safetensors", "checkpoint-4.safetensors",
                                 "checkpoint-6.safetensors", "checkpoint.safetensors"}) {
    INFO(file);
    CHECK(failed[file] >= 1);
  }
  CHECK(failed["run.jsonl"] >= 4);
  CHECK(failed[""] == 0);
}

/// A folder in which nobody may make a file, as long as this lives. Root may everywhere: it becomes another user.
struct ReadOnlyFolder {
  fs::path path;
  explicit ReadOnlyFolder(fs::path folder) : path(std::move(folder)) {
    REQUIRE(chmod(path.c_str(), 0555) == 0);
    if (getuid() == 0) REQUIRE(seteuid(65534) == 0);
  }
  ~ReadOnlyFolder() {
    if (getuid() == 0 && seteuid(0) != 0) std::abort();
    chmod(path.c_str(), 0755);
#if defined(__linux__)
    prctl(PR_SET_DUMPABLE, 1);  // LeakSanitizer looks at this process at its end
#endif
  }
  ReadOnlyFolder(const ReadOnlyFolder&) = delete;
  ReadOnlyFolder& operator=(const ReadOnlyFolder&) = delete;
};

TEST_CASE("a folder that turns read-only in the midst of a run keeps log and checkpoints") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic, 8);
  plan.keep = 2;
  const OwnRun whole;
  const Outcome expected = finish(plan, whole);
  for (const std::int64_t closed : {1, 3, 5, 7}) {
    INFO("read-only after step " << closed);
    const OwnRun run;
    std::map<std::string, std::string> before;
    std::optional<ReadOnlyFolder> folder;
    Plan refused = plan;
    refused.stop = [&, step = std::int64_t{0}]() mutable {
      if (++step != closed) return false;
      before = checkpoints_in(run.folder.path);
      folder.emplace(run.folder.path);
      return false;
    };
    const std::string file = concat("checkpoint-", closed + 1, ".safetensors");
    CHECK_SAYS(
        "cannot write the checkpoint " + (run.folder / file) + ": Permission denied; write elsewhere: --out",
        train::run(refused, run.log()));
    folder.reset();
    CHECK(checkpoints_in(run.folder.path) == before);
    check_readable(run.folder.path);
    Plan resumed = plan;
    resumed.resume = run.folder.path.string();
    check_same(expected, finish(resumed, run));
  }
}

}  // namespace
}  // namespace tinymp::test
