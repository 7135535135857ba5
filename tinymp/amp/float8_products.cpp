#include <kernels/kernels.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/autograd/recompute.h>
#include <tinymp/autograd/tape.h>
#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace tinymp {
namespace {

/// "layer 1 weight" -> "layer 1"
std::string layer_of(const std::string& parameter) { return parameter.substr(0, parameter.rfind(' ')); }

bool is_matrix(const nn::Parameter& p) { return p.value.shape().rank() >= 2; }
/// Whether a product in FP8 may have this parameter as its weight. Rows of a table are looked up, and a tied output is one of
/// the products that stay as they are.
bool is_weight(const nn::Parameter& p) { return is_matrix(p) && !p.name.ends_with(" table"); }

std::vector<std::string_view> split(const LayerNames& list) {
  std::vector<std::string_view> names;
  for (std::string_view rest = list.text(); !rest.empty();) {
    names.push_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), names.back().size() + 1));
  }
  return names;
}

/// "first" and "last" are words: no pattern stands for them.
bool has_word(const LayerNames& list, std::string_view word) {
  return std::ranges::count(split(list), word) > 0;
}

/// The layers of the model, those of the first and the last weight among them.
void expect_layers(const LayerNames& exempt, const std::vector<nn::Parameter>& parameters) {
  for (const std::string_view one : split(exempt)) {
    const LayerNames alone = LayerNames::from(one);
    const bool known =
        one == "first" || one == "last" ||
        std::ranges::any_of(parameters, [&](const nn::Parameter& p) { return alone.has(layer_of(p.name)); });
    expect(known, "the model has no layer \"", one, "\" to be exempt from FP8; its first parameter is \"",
           parameters.front().name, "\", and * stands for any text");
  }
}

}  // namespace

class Float8Products::Policy final : public ProductPolicy {
 public:
  Policy(const nn::Module& model, const Recipe& recipe, std::uint64_t seed)
      : how_(recipe.eight_bits), rounding_(recipe.rounding), seed_(seed) {
    const std::vector<nn::Parameter> parameters = model.parameters();
    expect(!parameters.empty(), "Float8Products: ", model.name(), " has no parameters");
    expect_layers(how_.exempt, parameters);
    const Device device = parameters.front().value.device();
    step_ = Tensor(Shape{}, DType::f64, device), one_ = Tensor(Shape{}, DType::f64, device);
    kernels::fill(step_.view(), 0);
    kernels::fill(one_.view(), 1);
    cover(parameters, model.output_layer());
    scales_.emplace(how_, names_.size(), device);
  }

  void begin_step() {
    scales_->begin_step();
    kernels::accumulate(one_.view(), step_.view());
    for (auto& [id, weight] : weights_) weight.training.uses = {};
  }
  void set_step(std::int64_t steps) {
    scales_->drop_step();
    kernels::fill(step_.view(), static_cast<double>(steps));
  }
  void end_step() {
    scales_->end_step();
    forget_copies();  // they have the scales of the step
  }
  TensorScales& scales() { return *scales_; }
  std::vector<Scale> all_scales() const {
    constexpr const char* roles[] = {"activations", "weights", "errors"};
    std::vector<Scale> all;
    for (std::size_t i = 0; scales_->any() && i < names_.size(); ++i)
      for (const TensorScales::Role role : {activations, of_weights, errors}) {
        const TensorScales::Newest newest = scales_->newest(i, role);
        all.push_back({layer_of(names_[i]), names_[i], roles[role],
                       role == errors ? how_.backward : how_.forward, newest.scale, newest.amax});
      }
    return all;
  }
  std::size_t covered() const { return names_.size(); }
  void enter_region() {
    forget_copies();
    if (regions_++ > 0) return;
    for (auto& [id, weight] : weights_) weight.evaluation.uses = {};
  }
  void leave_region() {
    forget_copies();
    --regions_;
  }

  bool covers(const Tensor& w) const override { return weights_.contains(w.id()); }
  Float8Tensor activation(const Tensor& x, const Tensor& w) override {
    return quantized(x, how_.forward, rounding_.activations, w, activations);
  }
  Float8Tensor weight(const Tensor& w) override {
    return remembered([&] {
      Float8Tensor& copy = stream_of(weights_.at(w.id()), of_weights).copy;
      if (!copy.values) copy = quantized(w, how_.forward, rounding_.weights, w, of_weights);
      return copy;
    });
  }
  Float8Tensor error(const Tensor& dy, const Tensor& w) override {
    return quantized(dy, how_.backward, rounding_.errors, w, errors);
  }
  bool rounds_gradients() const override { return how_.gradient != DType::f32; }
  void round_gradient(const Tensor& sums, const Tensor& dw, const Tensor& w) override {
    const Use use{stream_of(weights_.at(w.id()), gradients).uses[gradients]++};
    const Tensor y = rounded(sums, use, how_.gradient, rounding_.gradients, w, gradients);
    kernels::cast(y.view(), dw.view());
  }

 private:
  static constexpr auto activations = TensorScales::activations, of_weights = TensorScales::weights,
                        errors = TensorScales::errors;
  static constexpr std::size_t gradients = TensorScales::roles, kinds = gradients + 1;
  static_assert(static_cast<std::size_t>(Narrowed::Kind::gradients) == gradients);

  struct Stream {
    std::array<std::uint64_t, kinds> uses{};  ///< in this step, or in this outermost region
    Float8Tensor copy{};                      ///< of this region
  };
  struct Weight {
    std::size_t number = 0;  ///< among the covered weights
    Stream training{}, evaluation{};
  };

  void forget_copies() {
    for (auto& [id, weight] : weights_) weight.training.copy = weight.evaluation.copy = {};
  }

  /// A forward pass without a tape is no training, as batch norm knows it.
  bool trains(std::size_t kind) const {
    const bool forward = kind == activations || kind == of_weights;
    return scales_->in_step() && (!forward || Tape::current() != nullptr);
  }
  Stream& stream_of(Weight& weight, std::size_t kind) const {
    return trains(kind) ? weight.training : weight.evaluation;
  }

  void cover(const std::vector<nn::Parameter>& parameters, std::string last) {
    const auto first = std::ranges::find_if(parameters, is_matrix);
    const auto behind = std::ranges::find_if(parameters.rbegin(), parameters.rend(), is_matrix);
    if (last.empty() && behind != parameters.rend()) last = layer_of(behind->name);
    const bool not_first = has_word(how_.exempt, "first"), not_last = has_word(how_.exempt, "last");
    for (const nn::Parameter& p : parameters) {
      const std::string layer = layer_of(p.name);
      const bool is_exempt = how_.exempt.has(layer) || (not_first && layer == layer_of(first->name)) ||
                             (not_last && layer == last);
      if (is_weight(p) && !is_exempt) {
        weights_[p.value.id()].number = names_.size();
        names_.push_back(p.name);
      }
      kept_.push_back(p.value);
    }
  }

  /// One use of a weight, counted once even if its product runs a second time.
  struct Use {
    std::uint64_t number;
    Tensor scale{};
  };
  Float8Tensor quantized(const Tensor& x, DType format, Rounding rounding, const Tensor& w,
                         TensorScales::Role role) {
    const Use use = remembered([&] {
      Weight& weight = weights_.at(w.id());
      const std::uint64_t number = stream_of(weight, role).uses[role]++;
      return Use{number, scales_->scale_for(x, weight.number, role, number, trains(role))};
    });
    return {rounded(x, use, format, rounding, w, role), use.scale};
  }

  /// Each use of a weight in a step has random words of its own: an LSTM has many. Those of evaluation have tensor numbers
  /// that no use in training reaches.
  Tensor rounded(const Tensor& x, const Use& use, DType format, Rounding rounding, const Tensor& w,
                 std::size_t kind) {
    const Tensor& scale = use.scale;
    const std::uint64_t apart = trains(kind) ? 0 : std::uint64_t{1} << 63,
                        tensor = use.number * (weights_.size() + 1) + weights_.at(w.id()).number;
    std::optional<Cell<const float>> by;
    if (scale) by.emplace(scale.view().data<float>(), scale.device());
    Tensor y(x.shape(), format, x.device());
    kernels::quantize(x.view(),
                      {.rounding = rounding,
                       .overflow = how_.saturate ? Overflow::saturate : Overflow::infinity,
                       .seed = seed_,
                       .tensor = apart + tensor * kinds + kind},
                      by, step_.view(), y.view());
    if (Observer* observer = Tape::observer())
      observer->narrowed({static_cast<Narrowed::Kind>(kind), w, x, y, rounding, scale});
    return y;
  }

  EightBits how_;
  Roundings rounding_;
  std::uint64_t seed_;
  Tensor step_, one_;  ///< () f64, on the device
  std::map<const void*, Weight> weights_;
  std::vector<std::string> names_;  ///< of the covered weights, by number
  std::optional<TensorScales> scales_;
  int regions_ = 0;           ///< that are open
  std::vector<Tensor> kept_;  ///< so that no other tensor gets the id of a parameter
};

Float8Products::Float8Products(const nn::Module& model, const Recipe& recipe, std::uint64_t seed) {
  expect_eight_bits(recipe);
  if (recipe.eight_bits.any()) policy_ = std::make_shared<Policy>(model, recipe, seed);
}

void Float8Products::begin_step() const {
  if (policy_ != nullptr) policy_->begin_step();
}
void Float8Products::end_step() const {
  if (policy_ != nullptr) policy_->end_step();
}
void Float8Products::set_step(std::int64_t steps) const {
  if (policy_ != nullptr) policy_->set_step(steps);
}

DelayedScaleState Float8Products::state(Device where) const {
  return policy_ == nullptr ? DelayedScaleState() : policy_->scales().state(where);
}
void Float8Products::restore(const DelayedScaleState& state) const {
  if (policy_ != nullptr) policy_->scales().restore(state);
}
std::size_t Float8Products::covered() const { return policy_ == nullptr ? 0 : policy_->covered(); }
std::vector<Float8Products::Scale> Float8Products::scales() const {
  return policy_ == nullptr ? std::vector<Scale>() : policy_->all_scales();
}

Float8Products::Region::Region(const Float8Products& products)
    : outer_(set_product_policy(products.policy_)) {
  if (products.policy_ != nullptr) products.policy_->enter_region();
}
Float8Products::Region::~Region() {
  const std::shared_ptr<ProductPolicy> inner = set_product_policy(outer_);
  if (inner != nullptr) static_cast<Policy&>(*inner).leave_region();
}

}  // namespace tinymp
