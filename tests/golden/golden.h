#pragma once

#include <tests/op_cases.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <bit>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

/// Short trainings boiled down to one number each. The table of these numbers is committed (hashes.txt):
/// every compiler, optimisation level, instruction set and number of threads must give it.
namespace tinymp::test {

/// FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923), over the bits of numbers, lowest byte first. All NaNs are
/// one.
class Hash {
 public:
  void add(std::uint64_t bits, int bytes) {
    for (int i = 0; i < bytes; ++i) value_ = (value_ ^ ((bits >> (8 * i)) & 0xff)) * 0x100000001b3;
  }
  template <class T>
  requires std::numeric_limits<T>::is_specialized void add(T x) {  // a NaN is the one of the format
    add(std::bit_cast<BitsOf<T>>(x == x ? x : std::numeric_limits<T>::quiet_NaN()), int{sizeof(T)});
  }
  void add(const Tensor& t) {
    visit_dtype(t.dtype(), [&]<class T> {
      for (std::int64_t i = 0; i < t.size(); ++i) add(t.data<T>()[i]);
    });
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

struct GoldenRow {
  std::string name;
  std::uint64_t hash = 0;
  std::int64_t taken = 0, skipped = 0;  ///< optimizer steps
};

// One line a row, as in hashes.txt:  cbf29ce484222325 adam fp16_master
inline std::ostream& operator<<(std::ostream& out, const GoldenRow& row) {
  constexpr char digits[] = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out << digits[(row.hash >> shift) & 15];
  return out << ' ' << row.name;
}

// What is trained. The sizes are odd on purpose: more rows than a block of the matrix multiplication (96),
// more inputs than its block of K (384), and enough values that loops are really shared out among threads.
inline constexpr std::int64_t golden_batch = 104, golden_pixels = 400, golden_hidden = 24,
                              golden_classes = 10;

inline Tensor golden_images(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> pixels(static_cast<std::size_t>(golden_batch * golden_pixels));
  for (float& p : pixels) {
    const bool black = rng.below(3) == 0;
    const float grey = static_cast<float>(rng.below(256)) / 255;
    p = black ? 0 : grey;
  }
  return Tensor::from({golden_batch, golden_pixels}, pixels);
}

inline std::vector<std::int32_t> golden_labels(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::int32_t> labels(golden_batch);
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(rng.below(golden_classes));
  return labels;
}

using GoldenOptimizer = std::unique_ptr<Optimizer> (*)(std::vector<Tensor>, const Recipe&);

inline const std::vector<std::pair<std::string, GoldenOptimizer>>& golden_optimizers() {
  static const std::vector<std::pair<std::string, GoldenOptimizer>> all{
      {"sgd",
       [](std::vector<Tensor> p, const Recipe& r) -> std::unique_ptr<Optimizer> {
         return std::make_unique<Sgd>(std::move(p),
                                      Sgd::Options{.lr = 0.1f, .momentum = 0.9f, .weight_decay = 1e-3f}, r);
       }},
      {"adam",
       [](std::vector<Tensor> p, const Recipe& r) -> std::unique_ptr<Optimizer> {
         return std::make_unique<Adam>(std::move(p), Adam::Options{.lr = 0.01f, .weight_decay = 1e-3f}, r);
       }},
      {"adamw",
       [](std::vector<Tensor> p, const Recipe& r) -> std::unique_ptr<Optimizer> {
         return std::make_unique<AdamW>(std::move(p), AdamW::Options{.lr = 0.01f, .weight_decay = 0.1f}, r);
       }},
      {"adagrad", [](std::vector<Tensor> p, const Recipe& r) -> std::unique_ptr<Optimizer> {
         return std::make_unique<Adagrad>(std::move(p), Adagrad::Options{.lr = 0.05f, .weight_decay = 1e-3f},
                                          r);
       }}};
  return all;
}

inline std::vector<std::pair<std::string, Recipe>> golden_recipes() {
  Recipe dynamic = recipes::fp16_dynamic;  // in four steps, it must be too high at first and grow at the end
  dynamic.scaling = DynamicScaling{.initial = 0x1p24f, .growth_interval = 2};
  const Recipe narrow{.compute = DType::f16,
                      .accumulate = DType::f16,
                      .gradient = DType::f16,
                      .master = DType::f32,
                      .state = DType::f16};
  return {{"fp32", recipes::fp32},
          {"fp16_weights", recipes::fp16_weights},
          {"fp16_master", recipes::fp16_master},
          {"fp16_static", recipes::fp16_static},
          {"fp16_dynamic", dynamic},
          {"fp16_narrow", narrow}};
}

/// Recipes whose numbers are rounded stochastically, compensated, or scaled and rounded to FP8. The models have two layers, so
/// no layer is exempt.
inline std::vector<std::pair<std::string, Recipe>> golden_rounding_recipes() {
  Recipe e5m2 = recipes::fp8_e5m2, hybrid = recipes::fp8_hybrid;
  e5m2.eight_bits.exempt = hybrid.eight_bits.exempt = {};
  hybrid.eight_bits.history = 2;
  Recipe e5m2_sr = e5m2;
  e5m2_sr.rounding = {.weights = Rounding::stochastic,
                      .activations = Rounding::stochastic,
                      .errors = Rounding::stochastic,
                      .gradients = Rounding::stochastic,
                      .masters = Rounding::stochastic};
  return {{"fp8_e5m2", e5m2},
          {"fp8_e5m2_sr", e5m2_sr},
          {"fp8_hybrid", hybrid},
          {"bf16_sr", recipes::bf16_sr},
          {"bf16_kahan", recipes::bf16_kahan}};
}

/// A few steps of the protocol, every loss and scale on the way, and at the end everything that the optimizer
/// keeps.
template <class Loss>
void golden_steps(const nn::Model& model, Optimizer& optimizer, const Recipe& recipe, Loss loss_of,
                  Hash& hash, GoldenRow& row) {
  LossScaler scaler(recipe.scaling);
  const Float8Products products(model, recipe, 11);
  optimizer.set_rounding_seed(12);
  for (std::uint64_t step = 0; step < 4; ++step) {
    products.begin_step();
    {
      const Float8Products::Region in_eight_bits(products);
      Tape tape;
      const Tensor loss = loss_of(model, step);
      hash.add(loss);
      tape.backward(scaler.scale(loss));
    }
    products.end_step();
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    hash.add(static_cast<float>(clip_norm(gradients, 1).item()));
    const bool taken = optimizer.step(gradients, check).read().taken;
    (taken ? row.taken : row.skipped) += 1;
    scaler.update(std::move(check));
    hash.add(scaler.factor());
    optimizer.zero_grad();
  }
  hash.add(optimizer.weights());
  hash.add(optimizer.master());
  for (const Tensor& m : optimizer.moments()) hash.add(m);
  for (const Float8Products::Scale& s : products.scales()) hash.add(s.scale), hash.add(s.amax);
}

inline Tensor golden_classifier_loss(const nn::Model& model, std::uint64_t step) {
  return cross_entropy(model(golden_images(step)), golden_labels(100 + step));
}
inline Tensor golden_autoencoder_loss(const nn::Model& model, std::uint64_t step) {
  const Tensor images = golden_images(step);
  return mse(model(images), images);
}

/// A classifier and an autoencoder under one optimizer and recipe.
inline GoldenRow golden_training(const std::string& name, GoldenOptimizer make, const Recipe& recipe) {
  GoldenRow row{.name = name};
  Hash hash;
  Rng rng(42);
  const nn::Mlp classifier({golden_pixels, golden_hidden, golden_classes}, recipe, rng);
  golden_steps(classifier, *make(tensors(classifier.parameters()), recipe), recipe, golden_classifier_loss,
               hash, row);
  const nn::Autoencoder autoencoder({golden_pixels, golden_hidden, golden_pixels}, recipe, rng);
  golden_steps(autoencoder, *make(tensors(autoencoder.parameters()), recipe), recipe, golden_autoencoder_loss,
               hash, row);
  row.hash = hash.value();
  return row;
}

/// A run that diverges: a learning rate far too high, until weights and losses are NaN.
inline GoldenRow golden_divergence() {
  return golden_training(
      "sgd fp16_weights diverging",
      [](std::vector<Tensor> p, const Recipe& r) -> std::unique_ptr<Optimizer> {
        return std::make_unique<Sgd>(std::move(p), Sgd::Options{.lr = 1e6f}, r);
      },
      recipes::fp16_weights);
}

/// An op of op_cases.h, forward and backward, in every format.
inline GoldenRow golden_op(const OpCase& op) {
  Hash hash;
  for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
    for (const std::vector<Shape>& shapes : op.shapes) {
      const std::vector<Tensor> inputs = inputs_of(op, shapes, dtype);
      for (const Tensor& x : inputs) x.set_requires_grad(true);
      Tape tape;
      const Tensor y = op.call(inputs);
      hash.add(y);
      const Tensor dy = cast(y, y.dtype());
      if (tape.size() == 0) continue;  // cast to the format that it has
      tape.backward(record("upstream", {y}, Tensor::from(Shape{}, std::vector<float>{0}),
                           [dy](const Tensor&, const Needs&) { return std::vector{dy}; }));
      for (const Tensor& x : inputs) hash.add(x.grad());
    }
  }
  return {.name = "op " + op.name, .hash = hash.value()};
}

/// The whole table.
inline std::vector<GoldenRow> golden_rows() {
  std::vector<GoldenRow> rows;
  for (const OpCase& op : op_cases()) rows.push_back(golden_op(op));
  for (const auto& [optimizer, make] : golden_optimizers()) {
    for (const auto& [name, recipe] : golden_recipes())
      rows.push_back(golden_training(optimizer + " " + name, make, recipe));
  }
  rows.push_back(golden_divergence());
  for (std::size_t i = 0; i < 2; ++i) {  // SGD and Adam
    const auto& [optimizer, make] = golden_optimizers()[i];
    for (const auto& [name, recipe] : golden_rounding_recipes())
      rows.push_back(golden_training(optimizer + " " + name, make, recipe));
  }
  return rows;
}

}  // namespace tinymp::test
