#pragma once

#include <tests/catch.h>
#include <tests/train/rig.h>
#include <tinymp/nn/layers.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/first_bad.h>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Models in which something goes wrong, and what their runs say of it.
namespace tinymp::test {

using train::Finding;
using train::Plan;
using train::Run;

constexpr double infinity = std::numeric_limits<double>::infinity();

inline train::OptimizerMaker adam(float lr, float epsilon = 1e-8f) {
  return [=](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = lr, .epsilon = epsilon}, recipe);
  };
}

/// f of each value, rounded to x's format; slope(x, y) is its derivative.
template <class F, class Slope>
Tensor each(const char* op, const Tensor& x, F f, Slope slope) {
  std::vector<float> values = x.to_floats();
  for (float& v : values) v = f(v);
  const Tensor y = Tensor::from(x.shape(), values, x.dtype());
  return record(op, {x}, y, [x, y, slope](const Tensor& dy, const Needs&) {
    std::vector<float> dx = dy.to_floats();
    const std::vector<float> in = x.to_floats(), out = y.to_floats();
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] *= slope(in[i], out[i]);
    return std::vector{Tensor::from(x.shape(), dx, x.dtype())};
  });
}

/// A model of linear layers 784-12-10 and whatever a test does with them.
class Custom : public nn::Model {
 public:
  using Forward = std::function<Tensor(const std::vector<nn::Linear>&, const Tensor& images)>;
  Custom(const Recipe& recipe, Rng& rng, Forward forward, std::int64_t outputs = 10)
      : forward_(std::move(forward)) {
    layers_.emplace_back(784, 12, recipe, rng);
    layers_.emplace_back(12, outputs, recipe, rng);
  }
  Tensor operator()(const Tensor& images) const override { return forward_(layers_, images); }
  std::vector<nn::Parameter> parameters() const override {
    std::vector<nn::Parameter> list = layers_[0].parameters("layer 1");
    append(list, {layers_[1].parameters("layer 2")});
    return list;
  }
  std::string name() const override { return "custom"; }

 private:
  std::vector<nn::Linear> layers_;
  Forward forward_;
};

inline train::ModelMaker custom(Custom::Forward forward, std::int64_t outputs = 10) {
  return
      [=](const Recipe& recipe, Rng& rng) { return std::make_unique<Custom>(recipe, rng, forward, outputs); };
}

inline Tensor logits_of(const std::vector<nn::Linear>& layers, const Tensor& images) {
  return layers[1](layers[0](cast(images, layers[0].weight.dtype()), Activation::relu));
}

/// ... with a dropout behind the last of them, whose step is a buffer.
class Dropping : public Custom {
 public:
  using Last = std::function<Tensor(const Tensor& images, const Tensor& logits)>;
  Dropping(
      const Recipe& recipe, Rng& rng, Last last = [](const Tensor&, const Tensor& y) { return y; })
      : Custom(recipe, rng, logits_of), last_(std::move(last)) {}
  Tensor operator()(const Tensor& images) const override {
    return last_(images, drop_(Custom::operator()(images)));
  }
  std::vector<Tensor> buffers() const override { return {drop_.step}; }

 private:
  nn::Dropout drop_{0.5f, 1};
  Last last_;
};

/// Runs the plan, and sees that the log holds what the run says.
inline std::vector<Finding> findings_of(const Plan& plan) {
  Scratch scratch;
  const Run run = train::run(plan, scratch.next());
  const Run read = train::load_run(run.path);
  CHECK(read.findings.size() == run.findings.size());
  for (std::size_t i = 0; i < std::min(read.findings.size(), run.findings.size()); ++i) {
    const Finding &a = read.findings[i], &b = run.findings[i];
    CHECK((a.kind == b.kind && a.step == b.step && a.direction == b.direction && a.where == b.where));
    CHECK((a.op == b.op && a.dtype == b.dtype && a.shape == b.shape && a.low == b.low && a.high == b.high));
    CHECK((a.value == b.value || (std::isnan(a.value) && std::isnan(b.value))));
    CHECK((a.parameter == b.parameter && a.sentence == b.sentence));
  }
  return run.findings;
}

/// The one finding of a run.
inline Finding finding_of(const Plan& plan, const char* kind = "first bad") {
  const std::vector<Finding> findings = findings_of(plan);
  for (const Finding& f : findings) UNSCOPED_INFO(f.kind + ": " + f.sentence);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == kind);
  return findings[0];
}

inline void check_place(const Finding& f, std::int64_t step, const char* direction, const char* where,
                        const char* op, DType dtype) {
  CHECK(f.step == step);
  CHECK(f.direction == direction);
  CHECK(f.where == where);
  CHECK(f.op == op);
  CHECK(f.dtype == dtype);
}

/// What the run's step is given.
inline std::vector<float> images_of_step(const Plan& plan, std::int64_t step) {
  data::Loader loader(plan.data->train, plan.batch, Rng(plan.seed).split(1).seed());
  for (std::int64_t t = 1; t < step; ++t) loader.next();
  return loader.next().images.to_floats();
}

inline bool says(const Finding& f, const std::string& part) {
  return f.sentence.find(part) != std::string::npos;
}

}  // namespace tinymp::test
