#include <tinymp/nn/torch_layout.h>
#include <algorithm>
#include <string_view>

namespace tinymp::nn {
namespace {

/// "block 3 first weight": the layer "block 3 first" and its tensor "weight".
struct Words {
  std::string layer, tensor;
};
Words words_of(const std::string& name) {
  const std::size_t last = name.rfind(' ');
  return last == std::string::npos ? Words{"", name} : Words{name.substr(0, last), name.substr(last + 1)};
}

bool begins_with(const std::string& text, std::string_view start) { return text.rfind(start, 0) == 0; }
bool is_norm(const Words& words) { return words.tensor == "gamma" || words.tensor == "beta"; }
/// "layer 12" -> 12
int number_in(const std::string& layer) { return std::stoi(layer.substr(layer.find(' ') + 1)); }

std::string dotted(std::string name) {
  std::ranges::replace(name, ' ', '.');
  return name;
}

/// The number of residual blocks.
int blocks_of(const std::vector<Parameter>& parameters) {
  int most = 0;
  for (const Parameter& p : parameters)
    if (begins_with(p.name, "block ")) most = std::max(most, number_in(p.name));
  return most;
}

/// The place of "layer 2" or "norm 2" in the Sequential of a stack, whose layers are `apart`.
std::string in_stack(const Words& words, int apart) {
  const int first = apart * (number_in(words.layer) - 1);
  return std::to_string(begins_with(words.layer, "norm") ? first + 1 : first);
}

std::string in_lenet(const Words& words) {
  constexpr int places[] = {0, 3, 7, 9, 11};
  return std::to_string(places[number_in(words.layer) - 1]);
}

std::string in_resnet(const Words& words, int blocks) {
  if (words.layer == "in") return is_norm(words) ? "1" : "0";
  if (words.layer == "out") return std::to_string(3 + blocks + 2);
  const char* const which = words.layer.ends_with("first") ? "1" : "2";
  return concat(2 + number_in(words.layer), is_norm(words) ? ".norm" : ".conv", which);
}

std::string in_residual(const Words& words, int blocks) {
  if (words.layer == "in") return "0";
  if (words.layer == "out") return std::to_string(blocks + 2);
  return concat(number_in(words.layer), words.layer.ends_with("first") ? ".first" : ".second");
}

/// "block 3 query" -> "blocks.2.query"
std::string in_transformer(const Words& words) {
  if (!begins_with(words.layer, "block ")) return words.layer;
  const std::string inside = words.layer.substr(words.layer.rfind(' ') + 1);
  return concat("blocks.", number_in(words.layer) - 1, ".", inside);
}

std::string layer_name(const std::string& model, const Words& words, int blocks) {
  if (begins_with(model, "mlp ") || begins_with(model, "autoencoder ")) return in_stack(words, 2);
  if (begins_with(model, "batch norm mlp ")) return in_stack(words, 3);
  if (model == "lenet") return in_lenet(words);
  if (begins_with(model, "resnet")) return in_resnet(words, blocks);
  if (begins_with(model, "residual mlp ")) return in_residual(words, blocks);
  if (begins_with(model, "transformer ")) return in_transformer(words);
  return dotted(words.layer);
}

std::string tensor_name(const std::string& tensor, bool of_lstm) {
  if (tensor == "gamma" || tensor == "table") return "weight";
  if (tensor == "beta") return "bias";
  if (tensor == "from_input") return "weight_ih_l0";
  if (tensor == "from_state") return "weight_hh_l0";
  return of_lstm && tensor == "bias" ? "bias_ih_l0" : tensor;
}

/// (I,O) -> (O,I). With `channels`, the inputs are (H,W,C) here and (C,H,W) there.
void transpose(TorchTensor& to, const Shape& shape, std::int64_t channels) {
  const std::int64_t inputs = shape[0], outputs = shape[1], pixels = inputs / channels;
  to.shape = {outputs, inputs};
  for (std::int64_t o = 0; o < outputs; ++o)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t p = 0; p < pixels; ++p) to.from.push_back((p * channels + c) * outputs + o);
}

/// (k,k,I,O) -> (O,I,k,k)
void turn_window(TorchTensor& to, const Shape& shape) {
  const std::int64_t pixels = shape[0] * shape[1], inputs = shape[2], outputs = shape[3];
  to.shape = {outputs, inputs, shape[0], shape[1]};
  for (std::int64_t o = 0; o < outputs; ++o)
    for (std::int64_t i = 0; i < inputs; ++i)
      for (std::int64_t p = 0; p < pixels; ++p) to.from.push_back((p * inputs + i) * outputs + o);
}

}  // namespace

std::vector<TorchTensor> torch_parameters(const Module& model) {
  const std::vector<Parameter> parameters = model.parameters();
  const std::string name = model.name();
  const int blocks = blocks_of(parameters);
  std::vector<TorchTensor> all;
  for (const Parameter& p : parameters) {
    const Words words = words_of(p.name);
    const Shape shape = p.value.shape();
    const std::string layer = layer_name(name, words, blocks);
    TorchTensor tensor{
        concat(layer, layer.empty() ? "" : ".", tensor_name(words.tensor, words.layer == "lstm")),
        {shape.begin(), shape.end()}};
    const bool behind_pool = name == "lenet" && words.layer == "layer 3";
    if (shape.rank() == 4) turn_window(tensor, shape);
    if (shape.rank() == 2 && words.tensor != "table") transpose(tensor, shape, behind_pool ? 16 : 1);
    all.push_back(std::move(tensor));
  }
  return all;
}

std::vector<std::string> torch_buffers(const Module& model) {
  const std::vector<Tensor> buffers = model.buffers();
  const std::vector<TorchTensor> as_torch = torch_parameters(model);
  const std::vector<Parameter> parameters = model.parameters();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (words_of(parameters[i].name).tensor != "gamma") continue;
    const std::string layer = as_torch[i].name.substr(0, as_torch[i].name.rfind('.'));
    names.insert(names.end(), {layer + ".running_mean", layer + ".running_var"});
  }
  if (names.size() == buffers.size()) return names;
  names.clear();
  for (std::size_t i = 0; i < buffers.size(); ++i) names.push_back(concat("tinymp.buffer.", i));
  return names;
}

}  // namespace tinymp::nn
