#include <kernels/kernels.h>
#include <tinymp/base/sha256.h>
#include <tinymp/train/checkpoint_tensors.h>
#include <algorithm>
#include <map>
#include <set>

// Weights alone: fine-tuning, a file of them, and their hash.
namespace tinymp::train {
namespace {

std::string shown(const std::string& name, const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += concat(text.empty() ? "" : ", ", extent);
  return concat(name, " (", text, ")");
}

bool is_own(const std::string& name) { return name.rfind("tinymp.", 0) == 0; }

/// Returns why a tensor cannot be taken; empty when it can.
std::string misfit(const StoredTensor& from, const nn::TorchTensor& as) {
  if (!dtype_in_memory(from.type))
    return concat("its values are ", name_of(from.type), ", which tinymp does not train in");
  if (from.shape != as.shape) return "the model's is " + shown("", as.shape).substr(1);
  return "";
}

/// Copies the values and rounds them to the format of `to`.
void take(const StoredTensor& from, const nn::TorchTensor& as, const Tensor& to) {
  const Tensor same(to.shape(), *dtype_in_memory(from.type));
  unpack(from, as, same);
  kernels::cast(same.to(to.device()).view(), to.view());
}

}  // namespace

LoadedWeights load_weights(const std::string& path, const nn::Model& model) {
  const Safetensors contents = load_safetensors(path);
  std::vector<std::pair<nn::TorchTensor, Tensor>> targets;
  const std::vector<nn::Parameter> parameters = model.parameters();
  const std::vector<nn::TorchTensor> as = nn::torch_parameters(model);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    expect(!parameters[i].value.bound_grad(), "load_weights: ", model.name(),
           " belongs to an optimizer, whose master copy would not follow; load before making the optimizer");
    targets.emplace_back(as[i], parameters[i].value);
  }
  const std::vector<std::string> buffers = nn::torch_buffers(model);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (!is_own(buffers[i]))
      targets.emplace_back(plain(buffers[i], model.buffers()[i].shape()), model.buffers()[i]);

  LoadedWeights loaded;
  std::set<std::string> known;
  for (const auto& [how, tensor] : targets) {
    auto found = contents.tensors.find("tinymp.master." + how.name);
    if (found == contents.tensors.end()) found = contents.tensors.find(how.name);
    known.insert(how.name);
    if (found == contents.tensors.end()) {
      loaded.missing.push_back(shown(how.name, how.shape));
      continue;
    }
    const std::string why = misfit(found->second, how);
    if (why.empty()) {
      take(found->second, how, tensor);
      loaded.taken.push_back(shown(how.name, how.shape));
    } else {
      loaded.left.push_back(concat(shown(how.name, found->second.shape), ": ", why));
      loaded.missing.push_back(shown(how.name, how.shape));
    }
  }
  for (const auto& [name, tensor] : contents.tensors)
    if (!is_own(name) && !known.contains(name) && !name.ends_with(".num_batches_tracked"))
      loaded.left.push_back(concat(shown(name, tensor.shape), ": the model has none of this name"));
  expect(!loaded.taken.empty(), path, ": no tensor in it fits ", model.name(),
         " by name and shape; choose the model that it was saved from (--model)");
  parameters_changed();
  return loaded;
}

void save_weights(const std::string& path, const nn::Module& model) {
  expect(model.buffers().empty(), "save_weights: ", model.name(),
         " has buffers, and what PyTorch counts beside them is known to its run: save a checkpoint");
  Safetensors contents;
  const std::vector<nn::Parameter> parameters = model.parameters();
  const std::vector<nn::TorchTensor> as = nn::torch_parameters(model);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    StoredTensor& tensor = contents.tensors[as[i].name];
    tensor = stored(parameters[i].value.to(Device::cpu), as[i]);
    if (!as[i].name.ends_with(".bias_ih_l0")) continue;
    const std::string lstm = as[i].name.substr(0, as[i].name.rfind('.'));
    contents.tensors[lstm + ".bias_hh_l0"] = {tensor.type, tensor.shape,
                                              std::string(tensor.bytes.size(), '\0')};
  }
  seal(contents);
  save_safetensors("the weights", path, contents);
}

std::string weights_hash(const nn::Model& model, const Optimizer& optimizer) {
  const Tensor master = optimizer.is_shared() ? optimizer.state().master : optimizer.master().to(Device::cpu);
  const std::vector<nn::Parameter> parameters = model.parameters();
  const std::vector<nn::TorchTensor> as = nn::torch_parameters(model);
  std::map<std::string, std::string> bytes;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Shape shape = parameters[i].value.shape();
    bytes[as[i].name] = stored(master.slice(offset, shape), as[i]).bytes;
    offset += shape.size();
  }
  std::string all;
  for (const auto& entry : bytes) all += entry.second;
  return sha256(all).substr(0, 16);
}

}  // namespace tinymp::train
