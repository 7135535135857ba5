#include <tinymp/autograd/cast_policy.h>
#include <tinymp/autograd/product_policy.h>
#include <tinymp/autograd/recompute.h>
#include <algorithm>
#include <memory>
#include <utility>

namespace tinymp {
namespace detail {

SegmentRun::SegmentRun(Journal& journal, bool is_first)
    : journal_(journal), is_first_(is_first), outer_(std::exchange(segment_run, this)) {}
SegmentRun::~SegmentRun() { segment_run = outer_; }

void SegmentRun::throw_other_course() {
  throw Error(
      "recompute: the block took another course the second time; it must depend on its inputs alone, and its "
      "effects must be remembered()");
}

const std::any& SegmentRun::once(const std::function<std::any()>& effect) {
  if (!is_first_) {
    if (next_ == journal_.size()) throw_other_course();
    return journal_[next_++];
  }
  // The effect is no part of the segment. It may be part of another one around it, which runs for the second time.
  struct Outside {
    explicit Outside(SegmentRun* outer) : inner(std::exchange(segment_run, outer)) {}
    ~Outside() { segment_run = inner; }
    SegmentRun* inner;
    MemoryRegion kept{MemoryKind::activations};
  } outside(outer_);
  journal_.push_back(outer_ == nullptr ? effect() : outer_->once(effect));
  return journal_.back();
}

void SegmentRun::expect_end() const {
  if (!is_first_ && next_ != journal_.size()) throw_other_course();
}

}  // namespace detail

/// A block between its two runs. The tape that recorded it owns it, so the tape outlives it.
class Tape::Segment {
 public:
  using Block = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

  Segment(Tape& tape, Block block, std::vector<Tensor> inputs)
      : tape_(tape), block_(std::move(block)), inputs_(std::move(inputs)) {}

  std::vector<Tensor> run_first();
  /// Puts nodes on the tape that run the block again when a gradient has come to one of its results.
  static void record(const std::shared_ptr<Segment>& segment, const std::vector<Tensor>& results);

 private:
  struct Pause;
  struct SecondTape;
  void keep(std::string name, Tensor output, std::function<void(const Tensor& dy)> backward);
  void run_again();
  void walk(Tape& second, std::vector<Tensor> results);

  Tape& tape_;
  Block block_;
  std::vector<Tensor> inputs_;
  std::shared_ptr<CastPolicy> casts_;
  std::shared_ptr<ProductPolicy> products_;
  detail::SegmentRun::Journal journal_;
  std::vector<Tensor> gradients_;  ///< of the results; empty where none has come
};

namespace {

/// The policies of the first run, for a second one.
class InForce {
 public:
  InForce(CastPolicy* casts, std::shared_ptr<ProductPolicy> products)
      : casts_(set_cast_policy(casts)), products_(set_product_policy(std::move(products))) {}
  ~InForce() {
    set_cast_policy(casts_);
    set_product_policy(std::move(products_));
  }
  InForce(const InForce&) = delete;
  InForce& operator=(const InForce&) = delete;

 private:
  CastPolicy* casts_;
  std::shared_ptr<ProductPolicy> products_;
};

}  // namespace

void Tape::Segment::keep(std::string name, Tensor output, std::function<void(const Tensor& dy)> backward) {
  tape_.nodes_.push_back({std::move(name),
                          {},
                          std::move(output),
                          [backward = std::move(backward)](const Tensor& dy, const Needs&) {
                            backward(dy);
                            return std::vector<Tensor>();  // the second run adds up the gradients itself
                          }});
}

void Tape::Segment::record(const std::shared_ptr<Segment>& segment, const std::vector<Tensor>& results) {
  const auto is_input = [&](const Tensor& x) {
    return std::ranges::any_of(segment->inputs_, [&](const Tensor& input) { return input.id() == x.id(); });
  };
  std::vector<std::size_t> made;  // those whose gradients the segment takes
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i] && results[i].requires_grad() && !is_input(results[i])) made.push_back(i);
  if (made.empty()) return;
  segment->gradients_.resize(results.size());
  const auto count = [](const Tensor& x) {  // now the tape keeps it
    if (x.counts_as(MemoryKind::workspace)) x.count_as(MemoryKind::activations);
  };
  for (const Tensor& x : segment->inputs_) count(x);
  for (const std::size_t i : made) count(results[i]);
  if (made.size() == 1) {
    segment->keep("recompute", results[made[0]].outline(), [segment, i = made[0]](const Tensor& dy) {
      segment->gradients_[i] = dy;
      segment->run_again();
    });
    return;
  }
  // A node has one output. So each result has a node, which hands its gradient on; the newest run first.
  const Tensor any(Shape{}, DType::f32);
  segment->keep("recompute", any, [segment](const Tensor&) { segment->run_again(); });
  for (const std::size_t i : made)
    segment->keep("recompute: result", results[i].outline(), [segment, i, any](const Tensor& dy) {
      segment->gradients_[i] = dy;
      any.set_grad(dy);
    });
}

/// The ops of the first run leave nothing on its tape.
struct Tape::Segment::Pause {
  explicit Pause(Tape& paused) : tape(paused) {
    tape.is_paused_ = true;
    tape.memory_->set_kind(MemoryKind::workspace);
  }
  ~Pause() {
    tape.is_paused_ = false;
    tape.memory_->set_kind(MemoryKind::activations);
  }
  Tape& tape;
};

/// The tape of the second run.
struct Tape::Segment::SecondTape {
  explicit SecondTape(const Segment& of) : tape(of.tape_.observer_, of.tape_.seed_) {
    tape.number_ = of.tape_.number_;  // so autocast finds its copies
    tape.repeats_ = true;
    if (tape.observer_ != nullptr) tape.observer_->begin_again(of.inputs_);
  }
  Tape tape;
};

/// Backwards through the second run, from the gradients of its results.
void Tape::Segment::walk(Tape& second, std::vector<Tensor> results) {
  if (results.size() != gradients_.size()) detail::SegmentRun::throw_other_course();
  second.has_run_ = true;
  second.memory_->set_kind(MemoryKind::workspace);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Tensor& dy = gradients_[i];
    if (!dy) continue;
    if (results[i].shape() != dy.shape() || results[i].dtype() != dy.dtype())
      detail::SegmentRun::throw_other_course();
    results[i].set_grad(dy);
  }
  results.clear(), gradients_.clear();  // the walk frees them on its way
  second.walk();
}

// <exercise recompute>
std::vector<Tensor> Tape::Segment::run_first() {
  casts_ = cast_policy() == nullptr ? nullptr : cast_policy()->kept();
  products_ = product_policy();
  const Pause unrecorded(tape_);
  const detail::SegmentRun run(journal_, true);
  return block_(inputs_);
}

void Tape::Segment::run_again() {
  SecondTape second(*this);
  std::vector<Tensor> results;
  {
    const InForce policies(casts_.get(), products_);
    detail::SegmentRun run(journal_, false);
    results = block_(inputs_);
    run.expect_end();
  }
  walk(second.tape, std::move(results));
}
// </exercise recompute>

std::vector<Tensor> recompute(std::function<std::vector<Tensor>(const std::vector<Tensor>&)> block,
                              std::vector<Tensor> inputs) {
  Tape* const tape = Tape::current();
  if (tape == nullptr || tape->is_paused_ || tape->has_run_) return block(inputs);
  const auto segment = std::make_shared<Tape::Segment>(*tape, std::move(block), std::move(inputs));
  std::vector<Tensor> results = segment->run_first();
  Tape::Segment::record(segment, results);
  return results;
}

Tensor recompute(std::function<Tensor(const Tensor&)> block, const Tensor& x) {
  const auto of_many = [block = std::move(block)](const std::vector<Tensor>& inputs) {
    return std::vector{block(inputs[0])};
  };
  return recompute(std::function<std::vector<Tensor>(const std::vector<Tensor>&)>(of_many),
                   std::vector{x})[0];
}

}  // namespace tinymp
