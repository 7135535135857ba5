#include <lessons/14_memory/exercises/2_recompute/serve_others.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/autograd/product_policy.h>
#include <tinymp/autograd/recompute.h>
#include <tinymp/ops/ops.h>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

bool holds(When when, bool forwards) {
  return when == When::always || when == (forwards ? When::forwards : When::backwards);
}

/// The policies that a setting asks for, forwards and then backwards.
class Policies {
 public:
  explicit Policies(const Setting& of) : of_(of) { begin(true); }

  void go_back() {
    if (of_.autocast != When::always) casts_ = casts(), region_.reset();
    if (of_.products != When::always) products_.reset();
    begin(false);
  }
  std::int32_t casts() const {
    return region_ && of_.autocast != When::backwards
               ? static_cast<std::int32_t>(region_->casts_of_parameters())
               : casts_;
  }

 private:
  void begin(bool forwards) {
    if (!region_ && holds(of_.autocast, forwards)) region_.emplace(of_.format);
    if (!products_ && holds(of_.products, forwards)) products_.emplace();
  }

  Setting of_;
  std::optional<Autocast> region_;
  std::optional<Products> products_;
  std::int32_t casts_ = 0;
};

/// The blocks of a trial, and what they have seen.
class Blocks {
 public:
  Blocks(const Setting& of, std::vector<float> numbers)
      : of_(of), w_(parameter(of.w)), numbers_(std::move(numbers)) {}

  Tensor all(const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < of_.blocks; ++i) y = recompute([this](const Tensor& z) { return block(z); }, y);
    return y;
  }
  const Tensor& w() const { return w_; }
  const std::vector<Run>& runs() const { return runs_; }
  std::int32_t drawn() const { return drawn_; }
  std::int32_t counted() const { return counted_; }
  std::int32_t most_kept() const { return most_kept_; }
  std::int32_t kept() const {
    return static_cast<std::int32_t>(
        std::ranges::count_if(kept_, [](const auto& one) { return !one.expired(); }));
  }

 private:
  Tensor block(const Tensor& y) {
    const float number =
        remembered([this] { return numbers_[static_cast<std::size_t>(drawn_++) % numbers_.size()]; });
    remembered([this] { ++counted_; });
    const Tensor product = matmul(y, w_);
    runs_.push_back(
        {static_cast<std::int32_t>(product.dtype()), product_policy() == nullptr ? 0 : 1, number});
    return kept(add(y, scale(product, number)));
  }
  /// y, by an op that keeps something for its backward.
  Tensor kept(const Tensor& y) {
    const auto held = std::make_shared<int>(0);
    kept_.push_back(held);
    most_kept_ = std::max(most_kept_, kept());
    const Tensor copy = Tensor::from(y.shape(), y.to_floats(), y.dtype());
    return record("kept", {y}, copy, [held](const Tensor& dy, const Needs&) { return std::vector{dy}; });
  }

  Setting of_;
  Tensor w_;
  std::vector<float> numbers_;
  std::vector<Run> runs_;
  std::vector<std::weak_ptr<int>> kept_;
  std::int32_t drawn_ = 0, counted_ = 0, most_kept_ = 0;
};

void gradient(Message& request, Message& reply) {
  const auto setting = request.take<Setting>();
  Blocks blocks(setting, request.take_all<float>());
  const Tensor x = parameter(setting.x, setting.x_wants != 0);
  Answer answer{};
  std::string threw;
  try {
    Tape tape;
    Policies policies(setting);
    const Tensor y =
        setting.nested == 0 ? blocks.all(x) : recompute([&](const Tensor& z) { return blocks.all(z); }, x);
    answer.nodes = static_cast<std::int32_t>(tape.size());
    answer.runs_forward = static_cast<std::int32_t>(blocks.runs().size());
    answer.kept_forward = blocks.kept();
    const Tensor loss = sum(y);
    answer.loss = value_of(loss);
    policies.go_back();
    CastPolicy* const casts = cast_policy();
    const std::shared_ptr<ProductPolicy> products = product_policy();
    tape.backward(loss);
    answer.restored = cast_policy() == casts && product_policy() == products ? 1 : 0;
    answer.casts = policies.casts();
  } catch (const std::exception& error) {
    answer.threw = 1;
    threw = error.what();
  }
  answer.runs = static_cast<std::int32_t>(blocks.runs().size());
  answer.kept = blocks.kept();
  answer.most_kept = blocks.most_kept();
  answer.drawn = blocks.drawn();
  answer.counted = blocks.counted();
  answer.of_x = value_of(x.grad());
  answer.of_w = value_of(blocks.w().grad());
  reply.put(answer).put_all(blocks.runs()).put_text(threw);
}

void course(Message& request, Message& reply) {
  const auto second = request.take<Course>();
  int runs = 0;
  std::string threw;
  try {
    Tape tape;
    const Tensor y = recompute(
        [&](const Tensor& z) {
          const bool first = runs++ == 0;
          if (first || second != Course::fewer_effects) remembered([] { return 1; });
          if (!first && second == Course::more_effects) remembered([] { return 2; });
          return scale(z, 2);
        },
        parameter(1));
    tape.backward(sum(y));
  } catch (const std::exception& error) {
    threw = error.what();
  }
  reply.put_text(threw);
}

}  // namespace

void serve(Message& request, Message& reply) {
  switch (request.take<Asked>()) {
    case Asked::gradient:
      return gradient(request, reply);
    case Asked::course:
      return course(request, reply);
    case Asked::several:
      return several(request, reply);
    case Asked::policies:
      return policies(request, reply);
    case Asked::failure:
      return failure(request, reply);
  }
}

}  // namespace tinymp::exercise
