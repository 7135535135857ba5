#pragma once

#include <tinymp/nn/linear.h>
#include <tinymp/nn/module.h>

namespace tinymp::nn {

/// The models of images. Each takes FP32 images (B,784) and casts them to its own format first.
class Model : public Module {
 public:
  virtual Tensor operator()(const Tensor& images) const = 0;
};

}  // namespace tinymp::nn
