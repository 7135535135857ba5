#pragma once

#include <lessons/14_memory/exercises/2_recompute/setting.h>
#include <lessons/lab/classroom/message.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/autograd/product_policy.h>
#include <tinymp/autograd/recompute.h>
#include <tinymp/ops/ops.h>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Blocks of several inputs and results, blocks under policies of their own, and one that throws.
namespace tinymp::exercise {

inline Tensor parameter(float value, bool wants = true) {
  return Tensor::from({1, 1}, std::vector<float>{value}).set_requires_grad(wants);
}
inline float value_of(const Tensor& x) { return x ? x.to_floats().at(0) : -1; }

/// A policy for products that leaves them alone.
struct NoProducts final : ProductPolicy {
  bool covers(const Tensor&) const override { return false; }
  Float8Tensor activation(const Tensor& x, const Tensor&) override { return {x}; }
  Float8Tensor weight(const Tensor& w) override { return {w}; }
  Float8Tensor error(const Tensor& dy, const Tensor&) override { return {dy}; }
  bool rounds_gradients() const override { return false; }
  void round_gradient(const Tensor&, const Tensor&, const Tensor&) override {}
};

/// A policy for products, while it lives.
class Products {
 public:
  Products() : before_(set_product_policy(std::make_shared<NoProducts>())) {}
  ~Products() { set_product_policy(before_); }
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

 private:
  std::shared_ptr<ProductPolicy> before_;
};

/// A chain of blocks: the results of one are the inputs of the next.
class Chain {
 public:
  Chain(const Tensor& w, std::int32_t inputs) : w_(w) { answer.inputs = answer.again = inputs; }

  std::vector<Tensor> recomputed(const std::vector<Made>& made, std::vector<Tensor> inputs) {
    const auto all = static_cast<std::int32_t>(inputs.size());
    const auto runs = std::make_shared<int>(0);
    return recompute(
        [this, made, all, runs](const std::vector<Tensor>& in) {
          std::int32_t& least = (*runs)++ == 0 ? answer.inputs : answer.again;
          const auto given = static_cast<std::int32_t>(in.size());
          if (given != all) least = std::min(least, given);
          std::vector<Tensor> results;
          for (const Made& one : made) results.push_back(result(one, in));
          return results;
        },
        std::move(inputs));
  }

  SeveralAnswer answer{};

 private:
  Tensor result(const Made& one, const std::vector<Tensor>& in) const {
    const Tensor& b = in.at(static_cast<std::size_t>(one.b));
    if (one.a < 0) return b;
    return add(scale(matmul(in.at(static_cast<std::size_t>(one.a)), w_), one.factor), b);
  }
  Tensor w_;
};

inline void several(Message& request, Message& reply) {
  const auto account = std::make_shared<MemoryAccount>();
  std::vector<float> results, gradients;
  std::string threw;
  SeveralAnswer answer{};
  {
    const MemoryRegion counted(account);
    const Tensor w = parameter(request.take<float>());
    const auto which = request.take_all<std::int32_t>();
    std::vector<Tensor> x, y;
    for (const float value : request.take_all<float>()) x.push_back(parameter(value));
    for (const std::int32_t i : which) y.push_back(x.at(static_cast<std::size_t>(i)));
    Chain chain(w, static_cast<std::int32_t>(which.size()));
    try {
      Tape tape;
      const auto blocks = request.take<std::int32_t>();
      for (int i = 0; i < blocks; ++i) y = chain.recomputed(request.take_all<Made>(), std::move(y));
      for (const Tensor& one : y) results.push_back(value_of(one));
      Tensor loss;
      std::size_t i = 0;
      for (const float factor : request.take_all<float>()) {
        const Tensor& one = y.at(i++);
        if (factor == 0) continue;
        loss = loss ? add(loss, sum(scale(one, factor))) : sum(scale(one, factor));
      }
      y.clear();
      tape.backward(loss);
    } catch (const std::exception& error) {
      threw = error.what();
    }
    answer = chain.answer;
    answer.of_w = w.grad() ? value_of(w.grad()) : 0;
    for (const Tensor& one : x) gradients.push_back(one.grad() ? value_of(one.grad()) : 0);
  }
  for (std::size_t kind = 0; kind < memory_kinds; ++kind)
    answer.left_bytes += account->now(static_cast<MemoryKind>(kind));
  reply.put(answer).put_all(results).put_all(gradients).put_text(threw);
}

inline void policies(Message& request, Message& reply) {
  std::vector<Run> runs;
  std::string threw;
  const Tensor w = parameter(1);
  try {
    Tape tape;
    Tensor y = parameter(1);
    for (const Under& under : request.take_all<Under>()) {
      std::optional<Autocast> region;
      std::optional<Products> products;
      if (under.format != DType::f32) region.emplace(under.format);
      if (under.products != 0) products.emplace();
      y = recompute(
          [&](const Tensor& z) {
            const Tensor product = matmul(z, w);
            runs.push_back(
                {static_cast<std::int32_t>(product.dtype()), product_policy() == nullptr ? 0 : 1, 0});
            return add(z, product);
          },
          y);
    }
    tape.backward(sum(y));
  } catch (const std::exception& error) {
    threw = error.what();
  }
  reply.put_all(runs).put_text(threw);
}

inline void failure(Message& request, Message& reply) {
  const auto run_that_throws = request.take<std::int32_t>();
  int runs = 0;
  std::string threw;
  Tape tape;
  std::optional<Autocast> region(DType::f16);
  std::optional<Products> products(std::in_place);
  CastPolicy* casts = cast_policy();
  std::shared_ptr<ProductPolicy> policy = product_policy();
  try {
    const Tensor y = recompute(
        [&](const Tensor& z) {
          remembered([] { return 1; });
          if (++runs == run_that_throws) throw Error("the block fails");
          return scale(z, 2);
        },
        parameter(1));
    const Tensor loss = sum(y);
    region.reset(), products.reset();
    casts = cast_policy(), policy = product_policy();
    tape.backward(loss);
  } catch (const std::exception& error) {
    threw = error.what();
  }
  AfterFailure after{.policies = cast_policy() == casts && product_policy() == policy ? 1 : 0,
                     .tape = Tape::current() == &tape ? 1 : 0,
                     .records = 1,
                     .remembers = 1};
  const std::size_t before = tape.size();
  if (run_that_throws == 1) scale(parameter(1), 2), after.records = tape.size() == before + 1 ? 1 : 0;
  bool happens = false;
  try {
    remembered([&] { happens = true; });
  } catch (const std::exception&) {
  }
  after.remembers = happens ? 1 : 0;
  reply.put(after).put_text(threw);
}

}  // namespace tinymp::exercise
