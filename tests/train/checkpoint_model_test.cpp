#include <tests/train/resume.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/train/checkpoint.h>
#include <tinymp/train/checkpoint_model.h>
#include <tinymp/train/predict.h>
#include <cmath>
#include <cstring>

// A model read back from its checkpoint alone, held against float64 and against the model that was trained.
namespace tinymp::test {
namespace {

using nlohmann::json;

data::Split images_of(const data::ImageShape& shape, std::int64_t count = 90) {
  Rng rng(3);
  const auto set = [&](std::int64_t size) {
    data::Dataset made{"mnist", size, {}, {}, shape};
    for (std::int64_t i = 0; i < size * shape.size(); ++i)
      made.images.push_back(static_cast<std::uint8_t>(rng.below(256)));
    for (std::int64_t i = 0; i < size; ++i) made.labels.push_back(static_cast<std::uint8_t>(rng.below(10)));
    return made;
  };
  return {set(count), set(10), set(20)};
}

/// A file as its format defines it, read without the code that is tested.
struct File {
  json header{};
  std::string values{};

  explicit File(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string all(std::istreambuf_iterator<char>(in), {});
    std::uint64_t length = 0;
    std::memcpy(&length, all.data(), 8);
    header = json::parse(all.substr(8, length));
    header.at("__metadata__").erase(train::seal_key);  // so that changes are judged by what they say
    values = all.substr(8 + length);
  }
  std::vector<float> floats(const std::string& name) const {
    REQUIRE(header.at(name).at("dtype") == "F32");
    const std::size_t begin = header.at(name).at("data_offsets")[0],
                      end = header.at(name).at("data_offsets")[1];
    std::vector<float> read((end - begin) / 4);
    std::memcpy(read.data(), values.data() + begin, end - begin);
    return read;
  }
  void write(const std::string& path) const {
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&length), 8);
    out << text << values;
  }
  json plan() const { return json::parse(header.at("__metadata__").at("tinymp.plan").get<std::string>()); }
  void set_plan(const std::string& key, const json& value) {
    json changed = plan();
    if (value.is_null())
      changed.erase(key);
    else
      changed[key] = value;
    header["__metadata__"]["tinymp.plan"] = changed.dump();
  }
};

/// The logits of a two-layer perceptron in float64; weights are (outputs, inputs) as PyTorch has them.
std::vector<double> logits_of(const File& file, std::span<const std::uint8_t> image) {
  std::vector<double> x(image.begin(), image.end());
  for (double& value : x) value /= 255;
  for (const std::string layer : {"0", "2"}) {
    const std::vector<float> w = file.floats(layer + ".weight"), b = file.floats(layer + ".bias");
    std::vector<double> y(b.begin(), b.end());
    for (std::size_t o = 0; o < y.size(); ++o)
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += static_cast<double>(w[o * x.size() + i]) * x[i];
    if (layer == "0")
      for (double& value : y) value = std::max(value, 0.0);
    x = y;
  }
  return x;
}

/// A run of four steps and what it leaves.
struct Trained {
  OwnRun run;
  std::unique_ptr<nn::Model> model;

  Trained(const data::Split& data, const train::ModelMaker& maker, const Recipe& recipe,
          train::Task task = train::Task::classify) {
    Plan plan = saving_plan(data, recipe, 4);
    plan.model = maker;
    plan.task = task;
    if (data.train.shape.channels == 3) plan.pixels.normalise = data::cifar10_statistics;
    train::run(plan, run.log(), {}, &model);
  }
  std::string file() const { return run.newest(); }
};

const train::ModelMaker small_mlp = train::model_of<nn::Mlp>({784, 12, 10});

}  // namespace

TEST_CASE("checkpoint model: logits are those of float64 from the file's own weights") {
  const data::Split data = images_of({});
  const Trained trained(data, small_mlp, recipes::fp32);
  const train::SavedModel saved = train::load_classifier(trained.file());
  CHECK(saved.name == "mlp 784-12-10");
  CHECK(saved.data.starts_with("mnist (90 train"));
  CHECK(saved.step == 4);
  CHECK(saved.classes.empty());
  const auto made = train::predict(*saved.under(recipes::fp32), data.test, saved.pixels);
  const File file(trained.file());
  REQUIRE(made.size() == 20);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::vector<double> exact = logits_of(file, data.test.image(static_cast<std::int64_t>(i)));
    double sum = 0;
    for (std::size_t c = 0; c < 10; ++c) {
      CHECK(std::abs(static_cast<double>(made[i].logits[c]) - exact[c]) < 1e-5);
      sum += made[i].shares[c];
    }
    CHECK(std::abs(sum - 1) < 1e-12);
    CHECK(made[i].answer == static_cast<std::size_t>(std::ranges::max_element(exact) - exact.begin()));
  }
}

TEST_CASE("checkpoint model: each kind answers with the bits of the trained model, under its recipe") {
  const data::Split grey = images_of({}), colour = images_of({32, 32, 3});
  const auto resnet = [](const data::ImageShape& shape) {
    const nn::ResNet::Images images{.size = shape.rows, .channels = shape.channels};
    return [images](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResNet>(3, images, r, rng); };
  };
  struct Case {
    const data::Split& data;
    train::ModelMaker model;
    Recipe recipe;
  };
  Recipe half_sums = recipes::fp16_static;
  half_sums.accumulate = DType::f16;
  const std::vector<Case> cases = {
      {grey, train::model_of<nn::Mlp>({784, 12, 10}), half_sums},
      {grey, train::model_of<nn::BatchNormMlp>({784, 12, 10}), recipes::o2},
      {grey, [](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResidualMlp>(8, 2, r, rng); },
       recipes::o1},
      {grey, [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); },
       recipes::fp16_weights},
      {colour, train::model_of<nn::Mlp>({3072, 10}), recipes::fp32},
      {colour, resnet(colour.train.shape), recipes::fp16_master},
  };
  for (const Case& one : cases) {
    const Trained trained(one.data, one.model, one.recipe);
    INFO(trained.model->name() << ", " << describe(one.recipe));
    const train::SavedModel saved = train::load_classifier(trained.file());
    CHECK(saved.name == trained.model->name());
    CHECK(saved.shape == one.data.train.shape);
    CHECK(saved.pixels.normalise.has_value() == (saved.shape.channels == 3));
    CHECK(saved.recipe.compute == one.recipe.compute);
    CHECK(saved.recipe.accumulate == one.recipe.accumulate);
    CHECK(saved.recipe.autocast == one.recipe.autocast);
    CHECK(saved.recipe.fp32_norm_parameters == one.recipe.fp32_norm_parameters);
    data::LoaderOptions pixels;
    if (saved.shape.channels == 3) pixels.normalise = data::cifar10_statistics;
    const Autocast region(one.recipe);
    const auto wanted = train::predict(*trained.model, one.data.test, pixels);
    const auto made = train::predict(*saved.under(saved.recipe), one.data.test, saved.pixels);
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(made[i].logits == wanted[i].logits);
  }
}

TEST_CASE("checkpoint model: the classes of a folder of pictures are kept") {
  data::Split data = images_of({});
  data.classes = {"cat", "dog, \"big\"", "\xc3\xa9l\xc3\xa9phant"};
  const Trained trained(data, small_mlp, recipes::fp32);
  CHECK(train::load_classifier(trained.file()).classes == data.classes);
  CHECK(File(trained.file()).plan().at("classes").size() == 3);
  const data::Split plain = images_of({});
  CHECK_FALSE(File(Trained(plain, small_mlp, recipes::fp32).file()).plan().contains("classes"));
}

TEST_CASE("checkpoint model: what is no classifier of tinymp is refused, with the way out") {
  const data::Split data = images_of({});
  const Trained trained(data, small_mlp, recipes::fp32);
  const File good(trained.file());
  const std::string path = trained.run.folder / "other.safetensors";
  const auto refused = [&](const File& file, const std::string& why) {
    file.write(path);
    CHECK_SAYS(path, train::load_classifier(path));
    CHECK_SAYS(why, train::load_classifier(path));
  };
  good.write(path);
  CHECK_NOTHROW(train::load_classifier(path));

  const Trained drawer(data, train::model_of<nn::Autoencoder>({784, 4, 784}), recipes::fp32,
                       train::Task::reconstruct);
  CHECK_SAYS("names no class; take the checkpoint of a classifier", train::load_classifier(drawer.file()));

  const auto planned = [&](const std::string& key, const json& value, const std::string& why) {
    File file = good;
    file.set_plan(key, value);
    INFO(key);
    refused(file, why);
  };
  for (const char* key : {"model", "task", "data", "pixels.raw", "pixels.normalise", "recipe.compute"})
    planned(key, nullptr, concat("lacks '", key, "'"));
  planned("model", 7, "has a 'model' that is no text");
  planned("model", "language model", "this version knows no model \"language model\"");
  planned("model", "mlp 784-12-11", "this version knows no model");
  planned("model", "mlp 784-99999999999999999999-10", "this version knows no model");
  planned("model", "mlp 784--10", "this version knows no model");
  planned("model", "mlp 784-65536-65536-10", "has more weights than the file holds");
  planned("model", "residual mlp 1000 blocks of 60000", "has more weights than the file holds");
  planned("model", "residual mlp 1 blocks of ", "this version knows no model");
  planned("model", "mlp 784-10", "no tensor in it fits mlp 784-10");
  planned("model", "mlp 784-12-12-10", "has more weights than the file holds");
  planned("model", "lenet", "no tensor in it fits lenet");
  planned("recipe.compute", "f64", "'recipe.compute' that is no format: f64");
  planned("recipe.fp32_norm", 1, "neither true nor false");
  planned("classes", "cat", "'classes' that are no list");
  planned("classes", json::array({1}), "has a class that is no text");

  File other = good;
  other.header.erase("__metadata__");
  refused(other, "tensors of another program");
  other = good;
  other.header["__metadata__"]["tinymp.checkpoint"] = "2";
  refused(other, "a checkpoint of version 2, but this program reads version 1");
  other = good;
  other.header["extra.weight"] = other.header["0.weight"];
  other.header.erase("0.weight");
  refused(other, "damaged checkpoint: it lacks 0.weight (12, 784)");
  other = good;
  other.values.pop_back();
  refused(other, "");
  CHECK_THROWS_AS(train::load_classifier(trained.run.folder / "nowhere"), Error);
}

TEST_CASE("checkpoint model: a header with any byte changed is read or refused") {
  const data::Split data = images_of({});
  const Trained trained(data, small_mlp, recipes::fp32);
  std::ifstream in(trained.file(), std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(in), {});
  std::uint64_t header = 0;
  std::memcpy(&header, good.data(), 8);
  const std::string path = trained.run.folder / "other.safetensors";
  Rng rng(11);
  int read = 0, refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string bad = good;
    bad[rng.below(8 + header)] = static_cast<char>(rng.below(256));
    std::ofstream(path, std::ios::binary) << bad;
    try {
      train::load_classifier(path);
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(read + refused == 400);
  CHECK(read > 0);
  CHECK(refused > 0);
}

}  // namespace tinymp::test
