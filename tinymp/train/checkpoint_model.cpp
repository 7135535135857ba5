#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/train/checkpoint_json.h>
#include <tinymp/train/checkpoint_model.h>
#include <tinymp/train/checkpoint_tensors.h>
#include <tinymp/train/run_log_fields.h>
#include <charconv>
#include <functional>
#include <string_view>

// From the words in a checkpoint to a model.
namespace tinymp::train {
namespace {

using Maker = std::function<std::unique_ptr<nn::Model>(const Recipe&, Rng&)>;

/// Reads the fields of a recipe that a forward pass obeys, "recipe.compute" and so on.
struct RecipeReader {
  const MetadataReader& json;

  void operator()(const std::string& key, DType& value) const {
    const bool of_products = key.starts_with("fp8_");
    if (of_products && !json.json().contains("recipe." + key)) return;  // older checkpoints have no FP8
    const std::string text = text_at(key);
    for (const FormatRow& format : format_table) {
      const bool possible = has_arithmetic(format.dtype) ? format.dtype != DType::f64 : of_products;
      if (text == format.name && possible) return void(value = format.dtype);
    }
    json.fail(concat("has a 'recipe.", key, "' that is no format: ", excerpt(text)));
  }
  void operator()(const std::string& key, bool& value) const {
    if (key == "fp8_saturates" && !json.json().contains("recipe.fp8_saturates")) return;
    if (key != "kahan") value = json.flag(("recipe." + key).c_str());  // older checkpoints have no kahan
  }
  void operator()(const std::string& key, int& value) const {
    if (!json.json().contains("recipe." + key)) return;
    const nlohmann::json& number = json.at(("recipe." + key).c_str());
    const bool fits = number.is_number_integer() && number >= -EightBits::longest_history &&
                      number <= EightBits::longest_history;
    if (!fits)
      json.fail(concat("has a 'recipe.", key, "' that is no number of it: ", excerpt(number.dump())));
    value = number.get<int>();
  }
  void operator()(const std::string& key, ScalingChoice auto& value) const {
    if (!json.json().contains("recipe." + key)) return;
    const std::string text = text_at(key);
    if (!set_by_name(value, text))
      json.fail(concat("has a 'recipe.", key, "' that is no scaling of tensors: ", excerpt(text)));
  }
  void operator()(const std::string& key, LayerNames& names) const {
    if (!json.json().contains("recipe." + key)) return;
    const std::string text = text_at(key);
    if (text.size() > LayerNames::longest) json.fail(concat("has too long a 'recipe.", key, "'"));
    names = LayerNames::from(text);
  }
  void operator()(const std::string&, LossScaling&) const {}
  void operator()(const std::string&, Rounding&) const {}

 private:
  std::string text_at(const std::string& key) const {
    const nlohmann::json& value = json.at(("recipe." + key).c_str());
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
};

std::string text_of(const MetadataReader& json, const char* name) {
  if (!json.at(name).is_string()) json.fail(concat("has a '", name, "' that is no text"));
  return json.at(name).get<std::string>();
}

std::vector<std::string> classes_of(const MetadataReader& json) {
  std::vector<std::string> classes;
  if (!json.json().contains("classes")) return classes;
  const nlohmann::json& list = json.at("classes");
  if (!list.is_array() || list.size() > data::image_classes)
    json.fail("has 'classes' that are no list of names");
  for (const nlohmann::json& name : list) {
    if (!name.is_string()) json.fail("has a class that is no text");
    classes.push_back(name.get<std::string>());
  }
  return classes;
}

data::LoaderOptions pixels_of(const MetadataReader& json) {
  data::LoaderOptions pixels;
  pixels.scale = json.flag("pixels.raw") ? data::PixelScale::raw : data::PixelScale::unit;
  pixels.invert = json.flag("pixels.invert");
  pixels.transpose = json.flag("pixels.transpose");
  if (!json.flag("pixels.normalise")) return pixels;
  data::ChannelStatistics statistics;
  for (std::size_t c = 0; c < statistics.mean.size(); ++c) {
    statistics.mean[c] = json.number(concat("pixels.mean.", c).c_str());
    statistics.deviation[c] = json.number(concat("pixels.deviation.", c).c_str());
  }
  pixels.normalise = statistics;
  return pixels;
}

// A model by its name
// --------------------------------------------------------------

/// What remains of `text` behind `begin`; nothing when it begins otherwise.
std::optional<std::string_view> behind(std::string_view text, std::string_view begin) {
  if (!text.starts_with(begin)) return std::nullopt;
  return text.substr(begin.size());
}

/// "784-64-10" -> {784, 64, 10}; empty when it is nothing of the kind.
std::vector<std::int64_t> numbers_in(std::string_view text, char between) {
  std::vector<std::int64_t> numbers;
  for (;;) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, number);
    if (failed != std::errc() || number < 1 || number > (1 << 16) || numbers.size() == 64) return {};
    numbers.push_back(number);
    if (stop == end) return numbers;
    if (*stop != between) return {};
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
  }
}

/// A stack of linear layers over the images, with an output for each class.
template <class T>
Maker stack_of(std::string_view text, std::int64_t inputs, std::int64_t& weights) {
  const std::vector<std::int64_t> widths = numbers_in(text, '-');
  if (widths.size() < 2 || widths.front() != inputs || widths.back() != data::image_classes) return {};
  for (std::size_t i = 1; i < widths.size(); ++i) weights += widths[i - 1] * widths[i];
  return [widths](const Recipe& recipe, Rng& rng) { return std::make_unique<T>(widths, recipe, rng); };
}

/// "3 blocks of 64"
Maker residual_of(std::string_view text, std::int64_t& weights) {
  constexpr std::string_view middle = " blocks of ";
  const std::size_t at = text.find(middle);
  if (at == std::string_view::npos) return {};
  const std::vector<std::int64_t> blocks = numbers_in(text.substr(0, at), '-'),
                                  width = numbers_in(text.substr(at + middle.size()), '-');
  if (blocks.size() != 1 || width.size() != 1) return {};
  weights = 2 * blocks[0] * width[0] * width[0] + width[0] * data::ImageShape{}.size();
  return [blocks, width](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::ResidualMlp>(width[0], static_cast<int>(blocks[0]), recipe, rng);
  };
}

/// The classifier of this name for images of this shape, empty when there is none; `weights` is how many it has, or
/// 0 where they are few.
Maker maker_of(const std::string& name, const data::ImageShape& shape, std::int64_t& weights) {
  if (const auto rest = behind(name, "mlp ")) return stack_of<nn::Mlp>(*rest, shape.size(), weights);
  if (const auto rest = behind(name, "batch norm mlp "))
    return stack_of<nn::BatchNormMlp>(*rest, shape.size(), weights);
  if (name == "resnet20") {
    const nn::ResNet::Images images{.size = shape.rows, .channels = shape.channels};
    return [images](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResNet>(3, images, r, rng); };
  }
  if (shape.channels != 1) return {};
  if (const auto rest = behind(name, "residual mlp ")) return residual_of(*rest, weights);
  if (name == "lenet") return [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); };
  return {};
}

// --------------------------------------------------------------

std::int64_t values_in(const Safetensors& contents) {
  std::size_t values = 0;
  for (const auto& [name, tensor] : contents.tensors) values += tensor.bytes.size() / size_of(tensor.type);
  return static_cast<std::int64_t>(values);
}

void expect_whole(const LoadedWeights& loaded, const SavedModel& saved) {
  const std::vector<std::string>& wrong = loaded.missing.empty() ? loaded.left : loaded.missing;
  if (wrong.empty()) return;
  throw Error(concat(saved.path,
                     ": a damaged checkpoint: ", loaded.missing.empty() ? "its tensor " : "it lacks ",
                     excerpt(wrong.front()), loaded.missing.empty() ? " is none of " : " of ",
                     excerpt(saved.name), "; take another copy, or an earlier checkpoint"));
}

}  // namespace

std::unique_ptr<nn::Model> SavedModel::under(const Recipe& wanted, Device device) const {
  Rng rng(0);
  std::int64_t count = 0;
  std::unique_ptr<nn::Model> model = maker_of(name, shape, count)(wanted, rng);
  nn::copy_parameters(*weights, *model);
  nn::move_to(*model, device);
  return model;
}

Float8Products SavedModel::products(const nn::Model& model, Recipe wanted) const {
  const bool is_own = wanted.eight_bits == recipe.eight_bits && scales.history;
  if (wanted.eight_bits.scaling == TensorScaling::delayed && !is_own) {
    EightBits& e = wanted.eight_bits;
    e = {e.forward, e.backward, e.gradient, e.saturate, e.exempt, TensorScaling::current};
  }
  Float8Products products(model, wanted);
  if (is_own) products.restore(scales);
  return products;
}

SavedModel load_classifier(const std::string& path) {
  const Safetensors contents = load_safetensors(path);
  expect_version(contents, path,
                 "which do not tell their model; begin a run with them (./learn train --resume FILE "
                 "--weights-only), and take its checkpoint");
  const MetadataReader plan(contents, "tinymp.plan", path);
  SavedModel saved{.path = path, .name = text_of(plan, "model"), .data = text_of(plan, "data")};
  expect(text_of(plan, "task") == metric_name(Task::classify), path, ": a model that draws or writes (",
         excerpt(saved.name),
         ") and names no class; take the checkpoint of a classifier, as ./learn train "
         "--model mlp makes");
  saved.classes = classes_of(plan);
  saved.pixels = pixels_of(plan);
  if (saved.pixels.normalise) saved.shape = {.rows = 32, .cols = 32, .channels = 3};
  fields(saved.recipe, RecipeReader{plan});
  saved.step = MetadataReader(contents, "tinymp.moment", path).count("step");
  std::int64_t weights = 0;
  const Maker make = maker_of(saved.name, saved.shape, weights);
  expect(make != nullptr, path, ": this version knows no model \"", excerpt(saved.name), "\" of ",
         saved.shape.rows, " x ", saved.shape.cols, " x ", saved.shape.channels,
         " images; take the checkpoint of an mlp, residual, lenet or resnet20");
  expect(weights <= values_in(contents), path, ": a damaged checkpoint: ", excerpt(saved.name),
         " has more weights than the file holds; take another copy, or an earlier checkpoint");
  Rng rng(0);
  const std::shared_ptr<const nn::Model> model = make(recipes::fp32, rng);
  expect_whole(load_weights(path, *model), saved);
  saved.weights = model;
  if (saved.recipe.eight_bits.scaling == TensorScaling::delayed)
    saved.scales = scales_in(contents, path, Float8Products(*model, saved.recipe));
  return saved;
}

}  // namespace tinymp::train
