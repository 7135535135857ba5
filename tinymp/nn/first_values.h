#pragma once

#include <tinymp/base/rng.h>
#include <tinymp/tensor/tensor.h>

/// All layers make their parameters and buffers here.
namespace tinymp::nn {

/// While it lives, models that this thread makes lie on Device::meta: their parameters and buffers have shapes and formats,
/// no number is drawn, and no memory is taken. train::make_model makes those of a dry run so.
class MetaParameters {
 public:
  MetaParameters();
  ~MetaParameters();
  MetaParameters(const MetaParameters&) = delete;
  MetaParameters& operator=(const MetaParameters&) = delete;

 private:
  bool outer_;
};

/// Returns first weights: uniform in +- bound, drawn in FP32 and then rounded. So the same rng gives the same
/// weights under every recipe, except for rounding.
Tensor uniform(const Shape& shape, float bound, DType dtype, Rng& rng);

/// The same value everywhere: a bias, a parameter of a norm, a buffer. It requires no gradient yet.
Tensor filled(const Shape& shape, DType dtype, double value);

}  // namespace tinymp::nn
