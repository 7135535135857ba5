#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/autograd/tape.h>
#include <algorithm>
#include <atomic>
#include <utility>

namespace tinymp {
namespace {

thread_local Tape* current_tape = nullptr;
std::atomic<std::uint64_t> tapes = 0;

}  // namespace

Tape::Tape(Observer* observer, Tensor seed)
    : number_(++tapes), outer_(current_tape), observer_(observer), seed_(std::move(seed)) {
  current_tape = this;
}
Tape::~Tape() {
  if (!is_stopped_) current_tape = outer_;
}
void Tape::stop() {
  expect(current_tape == this, "Tape::stop(): this is not the current tape");
  rest();
}
void Tape::rest() {
  memory_.reset();
  current_tape = outer_;
  is_stopped_ = true;
}
Tape* Tape::current() { return current_tape; }
Tensor Tape::current_seed() { return current_tape == nullptr ? Tensor() : current_tape->seed_; }

bool Tape::has_observer() {
  const Tape* tape = current_tape;  // the ops of backward itself are hidden
  return tape != nullptr && !tape->has_run_ && tape->observer_ != nullptr;
}

void Tape::tell(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) {
  if (!has_observer()) return;
  if (current_tape->repeats_)
    current_tape->observer_->again(op, inputs, output);
  else
    current_tape->observer_->forward(op, inputs, output);
}

Observer* Tape::observer() {
  const Tape* tape = current_tape;
  return tape == nullptr || (tape->repeats_ && !tape->has_run_) ? nullptr : tape->observer_;
}

/// Autocast casts a parameter once for all segments: the cast belongs to the tape, and no segment runs it again.
bool Tape::keeps(const Op& op, const std::vector<Tensor>& inputs) const {
  return !is_paused_ || (cast_policy() != nullptr && op.name == "cast" && inputs[0].is_leaf());
}

const char* name_of(Narrowed::Kind kind) {
  switch (kind) {
    case Narrowed::Kind::activations:
      return "activations";
    case Narrowed::Kind::weights:
      return "weights";
    case Narrowed::Kind::errors:
      return "errors";
    case Narrowed::Kind::gradients:
      break;
  }
  return "weight gradients";
}

void Tape::let_go(const Tensor& x) {
  if (current_tape == nullptr || current_tape->is_paused_) return;
  Tensor whole = x;
  for (auto node = current_tape->nodes_.rbegin(); node != current_tape->nodes_.rend(); ++node) {
    for (Tensor& input : node->inputs)
      if (input.id() == whole.id()) input = input.outline();
    if (x.is_leaf()) return;  // a batch: the op before the last may need it
    if (node->output.id() != whole.id()) continue;
    node->output = node->output.outline();
    if (node->inputs.size() != 1 || !node->inputs[0].shares_memory(whole)) return;
    whole = node->inputs[0];  // a reshape: the tape holds the same values twice
    node->inputs[0] = whole.outline();
  }
}

void show(const char* op, const Tensor& input, const Tensor& result, std::optional<DType> sums) {
  if (Tape::has_observer()) Tape::tell({op, sums}, {input}, result);
}

Tensor record(Op op, std::vector<Tensor> inputs, Tensor output, Backward backward) {
  Tape::tell(op, inputs, output);
  const bool needed = std::ranges::any_of(inputs, [](const Tensor& x) { return x.requires_grad(); });
  if (current_tape == nullptr || !needed) return output;
  expect(!current_tape->has_run_, op.name, ": this tape has run backward; make a new Tape for the next step");
  output.set_requires_grad(true);
  output.mark_computed();
  if (!current_tape->keeps(op, inputs)) return output;
  for (const Tensor& x : inputs)  // a batch: now the tape keeps it
    if (x.counts_as(MemoryKind::workspace)) x.count_as(MemoryKind::activations);
  if (current_tape->is_paused_) output.count_as(MemoryKind::activations);
  current_tape->nodes_.push_back({std::move(op.name), std::move(inputs), output, std::move(backward)});
  return output;
}

// <exercise tape_walk>
namespace {

/// grad of x += g. A gradient may be shared (reshape and add hand dy on as it is), so sums go into a new
/// tensor; only a buffer that an optimizer has bound is written in place.
void add_gradient(const Tensor& x, const Tensor& g) {
  if (const Tensor buffer = x.bound_grad()) {
    if (x.grad()) {
      kernels::accumulate(g.view(), buffer.view());
    } else {
      kernels::cast(g.view(), buffer.view());
      x.set_grad(buffer);
    }
  } else if (const Tensor so_far = x.grad()) {
    Tensor total = Tensor::like(x);
    kernels::add(so_far.view(), g.view(), total.view());
    x.set_grad(total);
  } else {
    x.set_grad(g);
  }
}

}  // namespace

void Tape::walk() {
  for (; !nodes_.empty(); nodes_.pop_back()) {
    const Node& node = nodes_.back();
    const Tensor dy = node.output.grad();
    if (!dy) continue;  // did not reach the loss
    const std::vector<Tensor> grads = node.backward(dy, Needs(node.inputs));
    expect(grads.size() == node.inputs.size(), node.op, ": ", grads.size(), " gradients for ",
           node.inputs.size(), " inputs");
    for (std::size_t i = 0; i != grads.size(); ++i) {
      const Tensor& x = node.inputs[i];
      if (!x.requires_grad()) continue;
      expect(grads[i] && grads[i].shape() == x.shape() && grads[i].dtype() == x.dtype(), node.op, ": input ",
             i, " is ", x.dtype(), x.shape(), " and its gradient is not");
      add_gradient(x, grads[i]);
    }
    if (observer_ != nullptr) observer_->backward(node.op, node.inputs, node.output, dy, grads);
    node.output.clear_grad();
  }
}
// </exercise tape_walk>

/// A tape that was stopped is the current one in its backward alone.
struct Tape::Turn {
  explicit Turn(Tape& of) : tape(of), was_stopped(of.is_stopped_) {
    if (!was_stopped) return;
    tape.memory_.emplace(MemoryKind::workspace);
    tape.outer_ = std::exchange(current_tape, &tape);
    tape.is_stopped_ = false;
  }
  ~Turn() {
    if (was_stopped) tape.rest();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  Tape& tape;
  const bool was_stopped;
};

void Tape::expect_ready(const Tensor& from) const {
  expect(!has_run_,
         "backward() was called before on this tape, and its activations are gone: make a new Tape");
  const bool recorded =
      std::ranges::any_of(nodes_, [&](const Node& n) { return n.output.id() == from.id(); });
  expect(recorded,
         "backward(): the loss was not computed under this tape out of anything that requires a gradient");
}

void Tape::backward(const Tensor& loss) {
  expect(loss.size() == 1, "backward() starts from a scalar loss, this tensor has shape ", loss.shape());
  expect_ready(loss);
  Tensor seed = seed_;
  expect(!seed || (seed.size() == 1 && seed.dtype() == loss.dtype() && seed.device() == loss.device()),
         "backward(): the loss is ", loss.dtype(), " on ", loss.device(),
         "; the tape was made for the gradient of another one");
  const Turn turn(*this);
  has_run_ = true;
  memory_->set_kind(MemoryKind::workspace);
  if (!seed) {
    seed = Tensor::like(loss);
    kernels::fill(seed.view(), 1);
  }
  loss.set_grad(seed);
  walk();
}

void Tape::backward(const Tensor& output, const Tensor& gradient) {
  expect(gradient.shape() == output.shape() && gradient.dtype() == output.dtype() &&
             gradient.device() == output.device(),
         "backward(): the output is ", output.dtype(), output.shape(), " and its gradient is ",
         gradient.dtype(), gradient.shape());
  expect_ready(output);
  const Turn turn(*this);
  has_run_ = true;
  memory_->set_kind(MemoryKind::workspace);
  output.set_grad(gradient);
  walk();
}

std::ostream& operator<<(std::ostream& out, const Tape& tape) {
  const auto shown = [](const Tensor& x) { return concat(x.dtype(), x.shape()); };
  std::size_t longest = 0;
  for (const Tape::Node& node : tape.nodes_) longest = std::max(longest, node.op.size());
  for (const Tape::Node& node : tape.nodes_) {
    out << "  " << node.op << std::string(longest - node.op.size() + 2, ' ');
    for (std::size_t i = 0; i < node.inputs.size(); ++i) out << (i == 0 ? "" : ", ") << shown(node.inputs[i]);
    out << " -> " << shown(node.output) << "\n";
  }
  return out;
}

}  // namespace tinymp
