#include <tests/train/resume.h>
#include <tinymp/base/sha256.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/nn/torch_layout.h>
#include <tinymp/train/checkpoint_model.h>
#include <cmath>
#include <cstring>
#include <fstream>

// What a checkpoint holds: PyTorch's names and layouts, found out by networks that are written down here as torch.nn
// defines them, and everything that is refused.
namespace tinymp::test {
namespace {

using train::Safetensors;
using train::StoredTensor;
using train::StoredType;
using Values = std::vector<double>;

Values values_of(const StoredTensor& tensor) {
  DType dtype = DType::f32;
  if (tensor.type == StoredType::F16) dtype = DType::f16;
  if (tensor.type == StoredType::BF16) dtype = DType::bf16;
  std::int64_t size = 1;
  for (const std::int64_t extent : tensor.shape) size *= extent;
  const Tensor values({size}, dtype);
  std::memcpy(values.view().memory, tensor.bytes.data(), tensor.bytes.size());
  return values.to_doubles();
}

/// Images (C,H,W), as torch.nn has them, in double.
struct Planes {
  std::size_t channels, size;
  Values values;
  double at(std::size_t c, std::size_t h, std::size_t w) const {
    return h < size && w < size ? values[(c * size + h) * size + w] : 0;
  }
};

/// torch.nn on the tensors of a state dict.
struct Torch {
  const Safetensors& state;

  Values of(const std::string& name) const {
    INFO(name);
    REQUIRE(state.tensors.contains(name));
    return values_of(state.tensors.at(name));
  }
  std::vector<std::int64_t> shape(const std::string& name) const { return state.tensors.at(name).shape; }

  /// y = x W^T + b, W (O,I)
  Values linear(const Values& x, const std::string& layer) const {
    const Values w = of(layer + ".weight"), b = of(layer + ".bias");
    REQUIRE(shape(layer + ".weight") == std::vector<std::int64_t>{static_cast<std::int64_t>(b.size()),
                                                                  static_cast<std::int64_t>(x.size())});
    Values y = b;
    for (std::size_t o = 0; o < y.size(); ++o)
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += w[o * x.size() + i] * x[i];
    return y;
  }
  /// Conv2d, W (O,I,k,k)
  Planes conv(const Planes& x, const std::string& layer, std::size_t stride, std::size_t padding) const {
    const Values w = of(layer + ".weight");
    const std::vector<std::int64_t> s = shape(layer + ".weight");
    REQUIRE(s.size() == 4);
    REQUIRE(static_cast<std::size_t>(s[1]) == x.channels);
    const auto outputs = static_cast<std::size_t>(s[0]), k = static_cast<std::size_t>(s[2]);
    Planes y{outputs, (x.size + 2 * padding - k) / stride + 1, {}};
    for (std::size_t o = 0; o < outputs; ++o)
      for (std::size_t h = 0; h < y.size; ++h)
        for (std::size_t v = 0; v < y.size; ++v) {
          double sum = state.tensors.contains(layer + ".bias") ? of(layer + ".bias")[o] : 0;
          for (std::size_t c = 0; c < x.channels; ++c)
            for (std::size_t a = 0; a < k; ++a)
              for (std::size_t b = 0; b < k; ++b)
                sum += w[((o * x.channels + c) * k + a) * k + b] *
                       x.at(c, h * stride + a - padding, v * stride + b - padding);
          y.values.push_back(sum);
        }
    return y;
  }
  /// BatchNorm in eval(): `plane` values a channel.
  Values norm(Values x, const std::string& layer, std::size_t plane) const {
    const Values weight = of(layer + ".weight"), bias = of(layer + ".bias"),
                 mean = of(layer + ".running_mean"), var = of(layer + ".running_var");
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i / plane;
      x[i] = (x[i] - mean[c]) / std::sqrt(var[c] + 1e-5) * weight[c] + bias[c];
    }
    return x;
  }
  Planes norm(Planes x, const std::string& layer) const {
    x.values = norm(x.values, layer, x.size * x.size);
    return x;
  }
};

Values relu(Values x) {
  for (double& v : x) v = std::max(v, 0.0);
  return x;
}
Planes relu(Planes x) {
  x.values = relu(x.values);
  return x;
}
Planes max_pool(const Planes& x) {
  Planes y{x.channels, x.size / 2, {}};
  for (std::size_t c = 0; c < y.channels; ++c)
    for (std::size_t h = 0; h < y.size; ++h)
      for (std::size_t w = 0; w < y.size; ++w)
        y.values.push_back(std::max(std::max(x.at(c, 2 * h, 2 * w), x.at(c, 2 * h, 2 * w + 1)),
                                    std::max(x.at(c, 2 * h + 1, 2 * w), x.at(c, 2 * h + 1, 2 * w + 1))));
  return y;
}

Values lenet(const Torch& torch, const Values& image) {
  const Planes x = max_pool(relu(torch.conv({1, 28, image}, "0", 1, 2)));
  const Planes y = max_pool(relu(torch.conv(x, "3", 1, 0)));
  return torch.linear(relu(torch.linear(relu(torch.linear(y.values, "7")), "9")), "11");  // flatten: (C,H,W)
}

/// A block of lessons/lab/bench/pytorch.py.
Planes block(const Torch& torch, const Planes& x, const std::string& name, std::size_t stride) {
  const Planes a = relu(torch.norm(torch.conv(x, name + ".conv1", stride, 1), name + ".norm1"));
  Planes y = torch.norm(torch.conv(a, name + ".conv2", 1, 1), name + ".norm2");
  for (std::size_t c = 0; c < x.channels; ++c)
    for (std::size_t h = 0; h < y.size; ++h)
      for (std::size_t w = 0; w < y.size; ++w)
        y.values[(c * y.size + h) * y.size + w] += x.at(c, h * stride, w * stride);
  return relu(y);
}

Values resnet(const Torch& torch, const Values& image, std::size_t blocks) {
  Planes x = relu(torch.norm(torch.conv({1, 28, image}, "0", 1, 1), "1"));
  for (std::size_t i = 0; i < 3 * blocks; ++i)
    x = block(torch, x, std::to_string(3 + i), i > 0 && i % blocks == 0 ? 2 : 1);
  Values means(x.channels);
  const std::size_t plane = x.size * x.size;
  for (std::size_t i = 0; i < x.values.size(); ++i)
    means[i / plane] += x.values[i] / static_cast<double>(plane);
  return torch.linear(means, std::to_string(3 + 3 * blocks + 2));
}

/// Trains a few steps, and compares the logits of the model with those of the twin on its checkpoint.
void check_twin(const Plan& plan, const std::function<Values(const Torch&, const Values&)>& twin,
                double within) {
  const OwnRun run;
  std::unique_ptr<nn::Model> model;
  static_cast<void>(train::run(plan, run.log(), {}, &model));
  const Safetensors file = train::load_safetensors(run.newest());
  const std::vector<float> pixels = [&] {
    std::vector<float> v;
    for (const std::uint8_t p : plan.data->test.image(3)) v.push_back(static_cast<float>(p) / 255.0f);
    return v;
  }();
  const Values ours = (*model)(Tensor::from({1, 784}, pixels)).to_doubles();
  const Values theirs = twin({file}, Values(pixels.begin(), pixels.end()));
  REQUIRE(ours.size() == theirs.size());
  double largest = 0;
  for (const double v : theirs) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < ours.size(); ++i) CHECK(std::abs(ours[i] - theirs[i]) <= within * largest);
}

TEST_CASE("a checkpoint in torch.nn gives the same logits: MLP, batch norm, residual, LeNet, ResNet") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp32, 3);
  plan.batch = 4;
  plan.model = train::model_of<nn::Mlp>({784, 12, 9, 10});
  check_twin(
      plan,
      [](const Torch& t, const Values& x) {
        return t.linear(relu(t.linear(relu(t.linear(x, "0")), "2")), "4");
      },
      1e-5);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 12, 9, 10});
  check_twin(
      plan,
      [](const Torch& t, const Values& x) {
        const Values a = relu(t.norm(t.linear(x, "0"), "1", 1));
        return t.linear(relu(t.norm(t.linear(a, "3"), "4", 1)), "6");
      },
      1e-5);
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResidualMlp>(6, 2, r, rng); };
  check_twin(
      plan,
      [](const Torch& t, const Values& image) {
        Values x = t.linear(image, "0");
        for (const std::string name : {"1", "2"}) {
          const Values y = t.linear(relu(t.linear(x, name + ".first")), name + ".second");
          for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
        }
        return t.linear(relu(x), "4");
      },
      1e-5);
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); };
  check_twin(plan, lenet, 1e-5);
  const nn::ResNet::Images images{.size = 28, .channels = 1};
  plan.model = [=](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResNet>(2, images, r, rng); };
  plan.steps = 1;
  plan.batch = 2;
  check_twin(
      plan, [](const Torch& t, const Values& x) { return resnet(t, x, 2); }, 1e-4);
}

std::vector<std::string> names_in(const Safetensors& file) {
  std::vector<std::string> names;
  for (const auto& entry : file.tensors) names.push_back(entry.first);
  return names;
}

TEST_CASE("a checkpoint has the names, formats and shapes of its recipe, and no more") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::o2, 3);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 5, 10});
  plan.optimizer = made<Adam>({.lr = 1e-3f});
  const OwnRun run;
  const Run recorded = train::run(plan, run.log());
  const Safetensors file = train::load_safetensors(run.newest());
  const std::vector<std::string> parameters{"0.bias", "0.weight", "1.bias", "1.weight", "3.bias", "3.weight"};
  std::vector<std::string> expected = parameters;
  for (const std::string& name : parameters)
    for (const char* const prefix : {"tinymp.master.", "tinymp.moment1.", "tinymp.moment2."})
      expected.push_back(prefix + name);
  expected.insert(expected.end(), {"1.running_mean", "1.running_var", "1.num_batches_tracked"});
  std::ranges::sort(expected);
  CHECK(names_in(file) == expected);
  CHECK(file.tensors.at("0.weight").type == StoredType::F16);
  CHECK(file.tensors.at("0.weight").shape == std::vector<std::int64_t>{5, 784});
  CHECK(file.tensors.at("1.weight").type == StoredType::F32);  // batch norm's own master
  CHECK(file.tensors.at("1.running_var").type == StoredType::F32);
  CHECK(file.tensors.at("tinymp.master.0.weight").type == StoredType::F32);
  CHECK(file.tensors.at("tinymp.moment2.3.weight").shape == std::vector<std::int64_t>{10, 5});
  const StoredTensor& counter = file.tensors.at("1.num_batches_tracked");
  std::int64_t batches = 0;
  std::memcpy(&batches, counter.bytes.data(), 8);
  CHECK((counter.type == StoredType::I64 && counter.shape.empty() && batches == recorded.result->taken));
  for (const auto& [key, text] : file.metadata) {
    INFO(key << " " << text);
    CHECK(text.find(run.folder.path.string()) == std::string::npos);
    CHECK(text.find(plan.name) == std::string::npos);
  }
  // The hash is over the masters as they are stored; sha256sum would say the same.
  std::string masters;
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with("tinymp.master.")) masters += tensor.bytes;
  CHECK(recorded.result->weights == sha256(masters).substr(0, 16));
  CHECK(train::load_run(run.log()).result->weights == recorded.result->weights);
}

TEST_CASE("other models keep the names of their layers, and an LSTM has those of torch.nn") {
  const auto names_of = [](const nn::Module& model) {
    std::vector<std::string> names;
    for (const nn::TorchTensor& t : nn::torch_parameters(model)) names.push_back(t.name);
    return names;
  };
  Rng rng(1);
  const Dropping dropping({}, rng);
  CHECK(names_of(dropping).front() == "layer.1.weight");
  CHECK(nn::torch_buffers(dropping) == std::vector<std::string>{"tinymp.buffer.0"});
  const nn::LanguageModel words(11, 3, {}, rng);
  CHECK(names_of(words) == std::vector<std::string>{"embedding.weight", "lstm.weight_ih_l0",
                                                    "lstm.weight_hh_l0", "lstm.bias_ih_l0", "out.weight",
                                                    "out.bias"});
  CHECK(nn::torch_parameters(words)[0].shape == std::vector<std::int64_t>{11, 3});
  CHECK(nn::torch_parameters(words)[1].shape == std::vector<std::int64_t>{12, 3});
}

TEST_CASE(
    "the weights of a language model are a file of their own, and those of a model with buffers are not") {
  Rng rng(1);
  const nn::LanguageModel words(11, 3, recipes::fp16_master, rng);
  const files::Folder folder;
  train::save_weights(folder / "weights.safetensors", words);
  const Safetensors file = train::load_safetensors(folder / "weights.safetensors");
  CHECK(file.tensors.size() == 7);
  CHECK(file.tensors.at("lstm.bias_hh_l0") ==
        train::StoredTensor{train::StoredType::F16, {12}, std::string(24, '\0')});
  const train::StoredTensor& out = file.tensors.at("out.weight");  // (11,3), and ours is (3,11)
  CHECK(out.shape == std::vector<std::int64_t>{11, 3});
  const std::vector<double> ours = words.parameters()[4].value.to_doubles();
  for (std::size_t o = 0; o < 11; ++o)
    for (std::size_t i = 0; i < 3; ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, out.bytes.data() + 2 * (o * 3 + i), 2);
      CHECK(static_cast<double>(float(half::from_bits(bits))) == ours[i * 11 + o]);
    }
  CHECK_SAYS("cannot write the weights " + (folder / "none/weights"),
             train::save_weights(folder / "none/weights", words));
  const nn::BatchNormMlp with_averages({4, 3, 2}, {}, rng);
  CHECK_SAYS("has buffers", train::save_weights(folder / "other", with_averages));
  CHECK_FALSE(fs::exists(folder / "other"));
}

TEST_CASE("a damaged checkpoint is refused, with what is wrong in it") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic, 6);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 5, 10});
  plan.optimizer = made<Adam>({.lr = 1e-3f});
  const OwnRun run;
  Plan stopped = plan;
  stopped.stop = [&, t = 0]() mutable { return ++t == 5; };
  static_cast<void>(train::run(stopped, run.log()));
  const Safetensors whole = train::load_safetensors(run.newest());
  plan.resume = run.folder.path.string();
  const std::string log = text_of(run.log());
  const auto check = [&](const std::string& says, auto change) {
    Safetensors damaged = whole;
    damaged.metadata.erase(train::seal_key);  // as a checkpoint from before there were seals
    change(damaged);
    train::save_safetensors("the checkpoint", run.newest(), damaged);
    const std::string bytes = text_of(run.newest());
    CHECK_SAYS(says, train::run(plan, run.log()));
    CHECK_SAYS(run.newest(), train::run(plan, run.log()));
    CHECK(text_of(run.log()) == log);
    CHECK(text_of(run.newest()) == bytes);
  };
  const auto set = [](const char* key, const char* from, const char* to) {
    return [=](Safetensors& s) {
      std::string& text = s.metadata.at(key);
      const std::size_t at = text.find(from);
      REQUIRE(at != std::string::npos);
      text.replace(at, std::strlen(from), to);
    };
  };
  check("tensors of another program", [](Safetensors& s) { s.metadata.clear(); });
  check("a checkpoint of version 2, but this program reads version 1",
        [](Safetensors& s) { s.metadata["tinymp.checkpoint"] = "2"; });
  for (const char* const key :
       {"tinymp.plan", "tinymp.run", "tinymp.moment", "tinymp.past", "tinymp.finder"}) {
    if (key != std::string("tinymp.past"))
      check(concat("'", key, "' is missing"), [=](Safetensors& s) { s.metadata.erase(key); });
    check(concat("'", key, "' is no JSON object"), [=](Safetensors& s) { s.metadata[key] = "[1]"; });
    check(concat("'", key, "' is nested too deep"),
          [=](Safetensors& s) { s.metadata[key] = std::string(99, '['); });
  }
  check("lacks 'epoch'", set("tinymp.moment", "\"epoch\"", "\"epOch\""));
  check("has a 'epoch' that is no count: \"2\"", set("tinymp.moment", "\"epoch\":2", "\"epoch\":\"2\""));
  check("has a 'epoch' that is no count: -2", set("tinymp.moment", "\"epoch\":2", "\"epoch\":-2"));
  check("there is no batch 9 in epoch 2", set("tinymp.moment", "\"drawn\":1", "\"drawn\":9"));
  check("has too many steps", set("tinymp.moment", "\"step\":5", "\"step\":7"));
  for (const char* const count : {"taken", "skipped", "first_nonfinite_step", "log_lines"}) {
    const std::string there = concat("\"", count, "\":"), here = there + "9223372036854775807,\"x\":";
    check("has counts that do not add up", set("tinymp.run", there.c_str(), here.c_str()));
  }
  check("are of different steps", set("tinymp.moment", "\"step\":5", "\"step\":6"));
  check("has a 'scale' that is no number", set("tinymp.moment", "\"scale\":", "\"scale\":[],\"x\":"));
  check("does not fit this run", set("tinymp.moment", "\"scale\":", "\"scale\":\"inf\",\"x\":"));
  check("has a 'bad' that is neither", set("tinymp.moment", "\"bad\":false", "\"bad\":0"));
  check("has too large a 'growth_tracker'",
        set("tinymp.moment", "\"growth_tracker\":", "\"growth_tracker\":99999999999,\"x\":"));
  check("something 'known' that no op makes: 7", set("tinymp.finder", "\"known\":[", "\"known\":[7"));
  check("its \"nonsense\" is 1, and here it is nothing", set("tinymp.plan", "{", "{\"nonsense\":1,"));
  check("the tensor '0.weight' is missing", [](Safetensors& s) { s.tensors.erase("0.weight"); });
  check("the tensor 'tinymp.moment2.3.bias' is missing",
        [](Safetensors& s) { s.tensors.erase("tinymp.moment2.3.bias"); });
  check("the tensor '1.running_var' is missing", [](Safetensors& s) { s.tensors.erase("1.running_var"); });
  check("the tensor '1.num_batches_tracked' is missing",
        [](Safetensors& s) { s.tensors.erase("1.num_batches_tracked"); });
  check("the tensor 'tinymp.past.master.0.bias' is missing",
        [](Safetensors& s) { s.tensors.erase("tinymp.past.master.0.bias"); });
  check("the tensor '0.bias' is F32(5), and the run's is F16(5)",
        [](Safetensors& s) { s.tensors["0.bias"] = s.tensors["tinymp.master.0.bias"]; });
  check("the tensor '0.bias' is F16(1, 5), and the run's is F16(5)", [](Safetensors& s) {
    s.tensors["0.bias"].shape = {1, 5};
  });
  check("this run has no tensor 'more'", [](Safetensors& s) {
    s.tensors["more"] = {StoredType::U8, {}, "1"};
  });
  files::write(run.newest(), {1, 2, 3});
  CHECK_SAYS("it has 3 bytes", train::run(plan, run.log()));
  train::save_safetensors("the checkpoint", run.newest(), whole);
  CHECK(train::run(plan, run.log()).result.has_value());
}

TEST_CASE("each bit of a checkpoint counts: one that turned over is found, wherever it lies") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic, 3);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 5, 10});
  const OwnRun run;
  static_cast<void>(train::run(plan, run.log()));
  const std::string whole = text_of(run.newest());
  const Safetensors contents = train::load_safetensors(run.newest());
  const std::string path = run.folder / "flipped.safetensors";
  const std::size_t stride = whole.size() / 997;  // about a thousand places, each with another bit
  std::size_t refused = 0, same = 0;
  for (std::size_t at = 0; at < whole.size(); at += stride) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    std::ofstream(path, std::ios::binary) << flipped;
    try {
      // What says the same in other words is not damaged: a space that is a tab now, a seal of another name.
      Safetensors read = train::load_safetensors(path);
      read.metadata.erase(train::seal_key);
      std::erase_if(read.metadata,
                    [&](const auto& entry) { return !contents.metadata.contains(entry.first); });
      Safetensors expected = contents;
      expected.metadata.erase(train::seal_key);
      INFO("byte " << at);
      CHECK(read == expected);
      ++same;
    } catch (const Error& error) {
      ++refused;
      const std::string says = error.what();
      INFO("byte " << at << ": " << says);
      CHECK(says.find("damaged") != std::string::npos);
      CHECK(says.find(path) != std::string::npos);
    }
  }
  CHECK(refused > 950);
  CHECK(same < 10);
}

TEST_CASE("a damaged checkpoint is refused by all that read one") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic, 3);
  const OwnRun run;
  Plan stopped = plan;
  stopped.stop = [&, t = 0]() mutable { return ++t == 2; };
  static_cast<void>(train::run(stopped, run.log()));
  std::string bytes = text_of(run.newest());
  bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 1);  // of a value, not of its length
  std::ofstream(run.newest(), std::ios::binary) << bytes;
  const std::string says = run.newest() + ": a damaged file";
  plan.resume = run.folder.path.string();
  CHECK_SAYS(says, train::run(plan, run.log()));
  CHECK_SAYS(says, train::load_classifier(run.newest()));
  Rng rng(0);
  const std::unique_ptr<nn::Model> model = plan.model(recipes::fp32, rng);
  CHECK_SAYS(says, train::load_weights(run.newest(), *model));
}

TEST_CASE(
    "the weights alone: what fits is taken, from the masters where there are some, and the rest is told") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic, 3);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 5, 10});
  const OwnRun run;
  std::unique_ptr<nn::Model> trained;
  static_cast<void>(train::run(plan, run.log(), {}, &trained));
  const Safetensors file = train::load_safetensors(run.newest());

  Rng rng(9);
  const nn::BatchNormMlp same({784, 5, 10}, recipes::fp32, rng);
  const train::LoadedWeights all = train::load_weights(run.newest(), same);
  CHECK(all.taken.size() == 8);
  CHECK(all.left.empty());
  CHECK(all.missing.empty());
  const Values weight = same.parameters()[0].value.to_doubles();  // (784,5)
  const Values stored = values_of(file.tensors.at("tinymp.master.0.weight"));
  for (std::size_t i = 0; i < 784; ++i)
    for (std::size_t o = 0; o < 5; ++o) REQUIRE(weight[i * 5 + o] == stored[o * 784 + i]);
  CHECK(same.buffers()[1].to_doubles() == values_of(file.tensors.at("1.running_var")));

  const nn::BatchNormMlp wider({784, 5, 7, 10}, recipes::fp16_master, rng);
  const Values before = wider.parameters()[2].value.to_doubles();
  const train::LoadedWeights some = train::load_weights(run.newest(), wider);
  CHECK(some.taken == std::vector<std::string>{"0.weight (5, 784)", "0.bias (5)", "1.weight (5)",
                                               "1.bias (5)", "1.running_mean (5)", "1.running_var (5)"});
  CHECK(some.left == std::vector<std::string>{"3.weight (10, 5): the model's is (7, 5)",
                                              "3.bias (10): the model's is (7)"});
  CHECK(some.missing.front() == "3.weight (7, 5)");
  CHECK(wider.parameters()[2].value.to_doubles() == before);
  CHECK(wider.parameters()[0].value.to_doubles() ==
        trained->parameters()[0].value.to_doubles());  // rounded alike

  Safetensors foreign;  // of another program
  foreign.tensors["0.bias"] = {StoredType::F64, {5}, std::string(40, '\0')};
  foreign.tensors["1.bias"] = {StoredType::I32, {5}, std::string(20, '\0')};
  foreign.tensors["head.weight"] = {StoredType::F32, {1}, std::string(4, '\0')};
  train::save_safetensors("a file", run.folder / "foreign", foreign);
  const train::LoadedWeights few = train::load_weights(run.folder / "foreign", same);
  CHECK(few.taken == std::vector<std::string>{"0.bias (5)"});
  CHECK(few.left == std::vector<std::string>{"1.bias (5): its values are I32, which tinymp does not train in",
                                             "head.weight (1): the model has none of this name"});
  CHECK(same.parameters()[1].value.to_doubles() == Values(5, 0.0));
  const nn::Mlp unlike({784, 3, 10}, recipes::fp32, rng);
  foreign.tensors.erase("0.bias");
  train::save_safetensors("a file", run.folder / "foreign", foreign);
  CHECK_SAYS("no tensor in it fits mlp 784-3-10", train::load_weights(run.folder / "foreign", unlike));
  Sgd owner(tensors(same.parameters()), {}, recipes::fp32);
  CHECK_SAYS("belongs to an optimizer", train::load_weights(run.newest(), same));
}

TEST_CASE("a loader goes on from any place, and refuses one that no epoch has") {
  const data::Split data = made_up_split();
  data::Loader whole(data.train, 40, 5);
  for (int i = 0; i < 7; ++i) {
    data::Loader other(data.train, 40, 5);
    other.go_to(whole.position());
    CHECK(other.next().images.to_floats() == whole.next().images.to_floats());
  }
  CHECK_SAYS("there is no batch 2 in epoch 0; an epoch has 2", whole.go_to({0, 2}));
  CHECK_SAYS("there is no batch -1", whole.go_to({0, -1}));
  CHECK_SAYS("in epoch -1", whole.go_to({-1, 0}));
}

}  // namespace
}  // namespace tinymp::test
