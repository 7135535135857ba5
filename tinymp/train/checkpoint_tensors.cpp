#include <kernels/kernels.h>
#include <tinymp/train/checkpoint_tensors.h>
#include <cstring>

namespace tinymp::train {
namespace {

const char* bytes_of(const Tensor& tensor) { return static_cast<const char*>(tensor.view().memory); }

/// The arenas hold all parameters, one after another.
template <class F>
void for_each_parameter(const CheckpointOwner& owner, F&& visit) {
  const std::vector<nn::Parameter> parameters = owner.model.parameters();
  const std::vector<nn::TorchTensor> as = nn::torch_parameters(owner.model);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    visit(parameters[i].value, as[i], offset);
    offset += parameters[i].value.size();
  }
}

std::string number(const std::string& name, std::size_t i) { return concat(name, i + 1, "."); }

std::vector<std::string> buffer_names(const MomentNames& names, const nn::Model& model) {
  if (names.buffer.empty()) return nn::torch_buffers(model);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < model.buffers().size(); ++i) all.push_back(concat(names.buffer, i));
  return all;
}

/// PyTorch counts the batches of each batch norm: "1.running_var" -> "1.num_batches_tracked".
std::string counter_of(const std::string& buffer) {
  constexpr std::string_view end = ".running_var";
  if (!buffer.ends_with(end)) return "";
  return buffer.substr(0, buffer.size() - end.size()) + ".num_batches_tracked";
}

/// The three tensors of a state with their names in a file.
template <class F>
void for_each_scale(const DelayedScaleState& state, const std::string& begin, F&& visit) {
  if (!state.history) return;
  visit(begin + "history", state.history);
  visit(begin + "next", state.next);
  visit(begin + "scale", state.scale);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += concat(text.empty() ? "" : ", ", extent);
  return "(" + text + ")";
}

/// The tensors of a file, each asked for with its format and shape.
struct Taker {
  const Safetensors& contents;
  const std::string& path;
  std::vector<std::string>& taken;

  const StoredTensor& operator()(const std::string& name, StoredType type,
                                 const std::vector<std::int64_t>& shape) const {
    const auto found = contents.tensors.find(name);
    expect(found != contents.tensors.end(), path, ": a damaged checkpoint: the tensor '", name,
           "' is missing; take another copy, or an earlier checkpoint");
    const StoredTensor& tensor = found->second;
    expect(tensor.type == type && tensor.shape == shape, path, ": the tensor '", name, "' is ",
           name_of(tensor.type), shape_text(tensor.shape), ", and the run's is ", name_of(type),
           shape_text(shape), "; it is a checkpoint of another model, optimizer or recipe");
    taken.push_back(name);
    return tensor;
  }
  void into(const Tensor& to, const std::string& name, const nn::TorchTensor& as) const {
    unpack((*this)(name, stored_type(to.dtype()), as.shape), as, to);
  }
};

DelayedScaleState take_scales(const Taker& take, const std::string& begin, const Float8Products& products) {
  DelayedScaleState state = products.state();
  for_each_scale(state, begin, [&](const std::string& name, const Tensor& tensor) {
    take.into(tensor, name, plain(name, tensor.shape()));
  });
  try {
    expect_possible(state);
  } catch (const Error& error) {
    throw Error(concat(take.path, ": a damaged checkpoint: ", error.what()));
  }
  return state;
}

}  // namespace

StoredType stored_type(DType dtype) {
  std::string name = concat(has_arithmetic(dtype) ? "" : "f8_", name_of(dtype));  // "F8_E5M2"
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  const std::optional<StoredType> type = stored_type_named(name);
  expect(type.has_value(), "a checkpoint cannot hold tensors of ", dtype, ": safetensors has no such format");
  return *type;
}

std::optional<DType> dtype_in_memory(StoredType type) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::e5m2, DType::e4m3})
    if (stored_type(dtype) == type) return dtype;
  return std::nullopt;
}

StoredTensor stored(const Tensor& tensor, const nn::TorchTensor& as) {
  const std::size_t width = size_of(tensor.dtype()), bytes = static_cast<std::size_t>(tensor.size()) * width;
  StoredTensor to{stored_type(tensor.dtype()), as.shape, {}};
  if (as.from.empty()) {
    to.bytes.assign(bytes_of(tensor), bytes);
    return to;
  }
  to.bytes.reserve(bytes);
  for (const std::int64_t place : as.from)
    to.bytes.append(bytes_of(tensor) + static_cast<std::size_t>(place) * width, width);
  return to;
}

void unpack(const StoredTensor& from, const nn::TorchTensor& as, const Tensor& to) {
  const std::size_t width = size_of(to.dtype());
  expect(from.bytes.size() == static_cast<std::size_t>(to.size()) * width, "unpack: ", from.bytes.size(),
         " bytes for ", to.dtype(), to.shape());
  auto* memory = static_cast<char*>(to.view().memory);
  if (as.from.empty()) {
    std::memcpy(memory, from.bytes.data(), from.bytes.size());
    return;
  }
  for (std::size_t i = 0; i < as.from.size(); ++i)
    std::memcpy(memory + static_cast<std::size_t>(as.from[i]) * width, from.bytes.data() + i * width, width);
}

nn::TorchTensor plain(const std::string& name, const Shape& shape) {
  return {name, {shape.begin(), shape.end()}};
}

void add_tensors(const Moment& moment, const MomentNames& names, const CheckpointOwner& owner,
                 Safetensors& contents) {
  const Optimizer::State& state = moment.optimizer;
  const Recipe& recipe = owner.plan.recipe;
  for_each_parameter(owner, [&](const Tensor& p, const nn::TorchTensor& as, std::int64_t offset) {
    const auto part = [&](const Tensor& arena) {
      return stored(arena.slice(offset, p.shape()).to(Device::cpu), as);
    };
    contents.tensors[names.weight + as.name] =
        part(p.dtype() == recipe.compute ? state.weights : state.master);
    if (recipe.master != recipe.compute) contents.tensors[names.master + as.name] = part(state.master);
    for (std::size_t m = 0; m < state.moments.size(); ++m)
      contents.tensors[number(names.moment, m) + as.name] = part(state.moments[m]);
  });
  for_each_scale(moment.scales, names.scales, [&](const std::string& name, const Tensor& tensor) {
    contents.tensors[name] = stored(tensor.to(Device::cpu), plain(name, tensor.shape()));
  });
  const std::vector<std::string> buffers = buffer_names(names, owner.model);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Tensor buffer = moment.buffers[i].to(Device::cpu);
    contents.tensors[buffers[i]] = stored(buffer, plain(buffers[i], buffer.shape()));
    const std::string counter = counter_of(buffers[i]);
    if (counter.empty()) continue;
    const std::int64_t batches = state.steps;  // a skipped step moves no running average
    contents.tensors[counter] = {
        StoredType::I64, {}, std::string(reinterpret_cast<const char*>(&batches), sizeof batches)};
  }
}

DelayedScaleState scales_in(const Safetensors& contents, const std::string& path,
                            const Float8Products& products) {
  std::vector<std::string> taken;
  return take_scales({contents, path, taken}, names_of_now.scales, products);
}

void take_tensors(const Safetensors& contents, const MomentNames& names, const std::string& path,
                  const CheckpointOwner& owner, Moment& moment, std::vector<std::string>& taken) {
  const Taker take{contents, path, taken};
  const Recipe& recipe = owner.plan.recipe;
  const Shape all = owner.optimizer.weights().shape();
  Optimizer::State& state = moment.optimizer;
  state.weights = Tensor(all, recipe.compute);
  state.master = Tensor(all, recipe.master);
  state.moments.clear();
  for (const Tensor& m : owner.optimizer.moments()) state.moments.emplace_back(all, m.dtype());
  for_each_parameter(owner, [&](const Tensor& p, const nn::TorchTensor& as, std::int64_t offset) {
    const auto part = [&](const Tensor& arena) { return arena.slice(offset, p.shape()); };
    const Tensor weights = part(state.weights), master = part(state.master);
    const bool own_master = p.dtype() != recipe.compute;  // batch norm's, with fp32_norm_parameters
    take.into(own_master ? master : weights, names.weight + as.name, as);
    if (recipe.master != recipe.compute)
      take.into(master, names.master + as.name, as);
    else
      kernels::cast(weights.view(), master.view());  // one arena; restore() takes it twice
    if (own_master) kernels::cast(master.view(), weights.view());
    for (std::size_t m = 0; m < state.moments.size(); ++m)
      take.into(part(state.moments[m]), number(names.moment, m) + as.name, as);
  });
  moment.scales = take_scales(take, names.scales, owner.products);
  moment.buffers.clear();
  const std::vector<Tensor> buffers = owner.model.buffers();
  const std::vector<std::string> called = buffer_names(names, owner.model);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Tensor& copy = moment.buffers.emplace_back(buffers[i].shape(), buffers[i].dtype());
    take.into(copy, called[i], plain(called[i], copy.shape()));
    if (const std::string counter = counter_of(called[i]); !counter.empty())
      take(counter, StoredType::I64, {});
  }
}

}  // namespace tinymp::train
