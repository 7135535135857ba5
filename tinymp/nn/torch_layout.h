#pragma once

#include <tinymp/nn/module.h>
#include <string>
#include <vector>

/// PyTorch's names and layouts for the tensors of a model, so that load_state_dict(strict=True) of a twin in
/// torch.nn takes them. A twin is an nn.Sequential of the layers that each model's header lists, activations and
/// pools included, so its names begin with a place in that list:
///   Mlp             Linear 0, ReLU 1, Linear 2, ...                 "0.weight", "0.bias", "2.weight"
///   Autoencoder     Linear 0, Sigmoid 1, Linear 2, ..., Sigmoid
///   BatchNormMlp    Linear 0, BatchNorm1d 1, ReLU 2, Linear 3, ...  "1.running_mean"
///   LeNet           Conv2d 0, 3 and Linear 7, 9, 11; ReLU, MaxPool2d and Flatten between
///   ResNet          Conv2d 0, BatchNorm2d 1, ReLU 2, blocks from 3 on ("3.conv1", "3.norm1", "3.conv2",
///                   "3.norm2"), AdaptiveAvgPool2d, Flatten, Linear
///   ResidualMlp     Linear 0, blocks from 1 on ("1.first", "1.second"), ReLU, Linear
///   LanguageModel   "embedding", "lstm", "out": no Sequential. The bias of our LSTM is "lstm.bias_ih_l0"; PyTorch
///                   adds a second one, which has to be zero
///   Transformer     "embedding", "positions", "blocks.0.query" ("key", "value", "out", "norm1", "norm2", "first",
///                   "second"), "norm"; an encoder has "transform" and "out.bias", too. No Sequential. The output's weight
///                   is embedding.weight
/// Any other model keeps the names of its layers: "layer 2 weight" is "layer.2.weight".
namespace tinymp::nn {

/// A parameter in PyTorch's layout. A linear weight (I,O) is (O,I) there, a window (k,k,I,O) is (O,I,k,k), an
/// LSTM's (I,4H) is (4H,I). The linear layer behind LeNet's pools takes its inputs in the order (C,H,W), not
/// (H,W,C).
struct TorchTensor {
  std::string name;                 ///< "7.weight"
  std::vector<std::int64_t> shape;  ///< (120, 400)
  /// Value i of PyTorch's tensor is value from[i] of tinymp's; empty: the order is the same.
  std::vector<std::int64_t> from{};
};

/// The parameters of a model, in the order of Module::parameters().
std::vector<TorchTensor> torch_parameters(const Module& model);

/// The names of a model's buffers, in the order of Module::buffers(). The running averages of batch norm are
/// "1.running_mean" and "1.running_var"; other buffers, which PyTorch has no names for, "tinymp.buffer.0".
std::vector<std::string> torch_buffers(const Module& model);

}  // namespace tinymp::nn
