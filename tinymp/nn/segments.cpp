#include <tinymp/autograd/recompute.h>
#include <tinymp/nn/segments.h>
#include <charconv>
#include <cmath>
#include <utility>

namespace tinymp::nn {
namespace {

thread_local const Recomputing* current_region = nullptr;

}  // namespace

Segments Segments::from(std::string_view text) {
  if (text == "blocks") return one_a_block();
  if (text == "sqrt") return square_root();
  Segments segments = count(0);
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), segments.number);
  expect(
      fault == std::errc() && end == text.data() + text.size() && segments.number >= 1, "\"", text,
      "\" is no number of segments; give a whole number from 1, sqrt (of the blocks of the model), or blocks "
      "(one segment a block)");
  return segments;
}

std::string Segments::text() const {
  switch (kind) {
    case Kind::none:
      return "";
    case Kind::one_a_block:
      return "blocks";
    case Kind::square_root:
      return "sqrt";
    case Kind::count:
      break;
  }
  return std::to_string(number);
}

std::int64_t Segments::of(std::int64_t blocks) const {
  expect(blocks > 0, "there is nothing to recompute: this model names no blocks");
  expect(kind != Kind::count || (number >= 1 && number <= blocks), number, " segments of a model that has ",
         blocks, blocks == 1 ? " block" : " blocks", "; give 1 to ", blocks, ", or sqrt");
  if (kind == Kind::count) return number;
  if (kind == Kind::one_a_block) return blocks;
  return static_cast<std::int64_t>(std::sqrt(static_cast<double>(blocks)) + 0.5);
}

Recomputing::Recomputing(const Segments& segments, Runner runner)
    : segments_(segments), runner_(std::move(runner)), outer_(std::exchange(current_region, this)) {
  if (!runner_)
    runner_ = [](Block segment, std::vector<Tensor> inputs) {
      return recompute(std::move(segment), std::move(inputs));
    };
}
Recomputing::~Recomputing() { current_region = outer_; }
const Recomputing* Recomputing::current() { return current_region; }

std::vector<Tensor> run_blocks(
    std::int64_t count, std::vector<Tensor> state,
    const std::function<std::vector<Tensor>(std::int64_t, const std::vector<Tensor>&)>& block) {
  const Recomputing* const region = Recomputing::current();
  if (region == nullptr || !region->segments().any()) {
    for (std::int64_t i = 0; i < count; ++i) state = block(i, state);
    return state;
  }
  const std::int64_t segments = region->segments().of(count);
  for (std::int64_t s = 0; s < segments; ++s) {
    const std::int64_t begin = s * count / segments, end = (s + 1) * count / segments;
    const auto segment = [block, begin, end](const std::vector<Tensor>& inputs) {
      std::vector<Tensor> inner = block(begin, inputs);
      for (std::int64_t i = begin + 1; i < end; ++i) inner = block(i, inner);
      return inner;
    };
    state = region->run(segment, std::move(state));
  }
  return state;
}

Tensor run_blocks(std::int64_t count, const Tensor& x,
                  const std::function<Tensor(std::int64_t, const Tensor&)>& block) {
  const auto of_many = [block](std::int64_t i, const std::vector<Tensor>& state) {
    return std::vector{block(i, state[0])};
  };
  return run_blocks(count, std::vector{x}, of_many)[0];
}

}  // namespace tinymp::nn
