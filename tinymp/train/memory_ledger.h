#pragma once

#include <tinymp/autograd/tape.h>
#include <tinymp/base/memory_account.h>
#include <tinymp/train/run_log.h>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

/// Tells which op took which bytes of a training step, and when. It watches the step's MemoryAccount, and observes its tape.
/// It works on shapes alone (train::dry_run) and in a real step alike. The scratch of kernels is not in it.
namespace tinymp::train {

/// What a forward pass leaves for the backward pass.
enum class Saved : std::uint8_t {
  /// As this library runs: of each op its inputs and its output, but no operand that was rounded to FP8 and let go of; and
  /// what backward needs besides (the probabilities of attention, the logarithms of cross-entropy). What else an op made
  /// inside was given back when it ended.
  lean,
  /// As in a framework in which all of that is written as ops that save their inputs and outputs: nothing that forward made
  /// is given back before backward has run through the op that made it. So the FP32 scores of attention stay, its
  /// probabilities after dropout, and the operands that FP8 lets go of. An op that needs no gradient keeps nothing more. Of
  /// a segment that runs twice (autograd/recompute.h) the first run keeps its inputs alone, and the second run keeps all.
  all,
};

/// The bytes of each kind at one moment, by MemoryKind.
struct MemoryMoment {
  std::array<std::int64_t, memory_kinds> of{};

  std::int64_t operator[](MemoryKind kind) const { return of[static_cast<std::size_t>(kind)]; }
  std::int64_t& operator[](MemoryKind kind) { return of[static_cast<std::size_t>(kind)]; }
  std::int64_t sum() const;
  bool operator==(const MemoryMoment&) const = default;
};

/// A part of a step: an op, forward or backward, or what lies before and behind the tape.
struct StepPart {
  enum class Phase : std::uint8_t {
    before,
    forward,
    again,
    backward,
    after
  };  ///< again: forward, a second time
  Phase phase = Phase::before;
  std::string op{};              ///< "linear"; "" outside of the tape
  Shape shape{};                 ///< of the op's output, or of the batch
  DType dtype = DType::f32;      ///< of the op's output
  std::int64_t most = 0;         ///< bytes at once while it ran, of all kinds
  MemoryMoment then{};           ///< at its end
  std::int64_t activations = 0;  ///< bytes that it took of the activations, when these were most
};
/// "forward of linear (64, 128)", "second forward of linear (64, 128)", "before the first op", "behind the tape: unscale,
/// optimizer, scale"
std::string describe(const StepPart& part);

class MemoryLedger final : public MemoryWatcher, public Observer {
 public:
  explicit MemoryLedger(Saved saved = Saved::lean) : saved_(saved) {}
  MemoryLedger(const MemoryLedger&) = delete;
  MemoryLedger& operator=(const MemoryLedger&) = delete;

  /// Forgets the parts of the step before; its peaks stay. Blocks that are taken stay taken.
  void begin_step();
  /// Ends the part before the first op of a micro-batch: a batch of this shape was made.
  void begin_tape(const Shape& batch) { end_part({.phase = StepPart::Phase::before, .shape = batch}); }
  void end_step();

  const MemoryMoment& most() const { return most_; }        ///< of each kind, in all steps
  const MemoryMoment& at_peak() const { return at_peak_; }  ///< when the sum was largest
  std::int64_t peak() const { return peak_; }
  /// The parts of the newest step, in their order.
  const std::vector<StepPart>& parts() const { return parts_; }
  /// The part in which the sum was largest, the first of these.
  const StepPart& heaviest() const { return heaviest_; }
  /// Activations of the steps before (cells of FP8 scales), when the activations of the newest step were most. With those of
  /// its parts they are all.
  std::int64_t from_before() const { return from_before_; }

 private:
  struct Block {
    MemoryKind kind;
    std::int64_t bytes;
    std::size_t part;  ///< by which it was taken
    std::uint64_t step;
  };

  void taken(const void* block, MemoryKind kind, std::int64_t bytes) override;
  void given_back(const void* block) noexcept override;
  void moved(const void* block, MemoryKind to) override;
  void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override;
  void backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                const Tensor& dy, const std::vector<Tensor>& gradients) override;
  void begin_again(const std::vector<Tensor>& inputs) override;
  void again(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override;

  void run(StepPart::Phase phase, const Op& op, const std::vector<Tensor>& inputs, const Tensor& output);
  void add(MemoryKind kind, std::int64_t bytes);
  void end_part(StepPart part);
  void attribute_activations();
  void drop_kept(std::size_t part);

  const Saved saved_;
  std::unordered_map<const void*, Block> blocks_{};
  MemoryMoment now_{}, most_{}, at_peak_{};
  StepPart heaviest_{};
  std::int64_t sum_ = 0, peak_ = 0;
  bool higher_ = false;                ///< the peak rose in this part
  std::int64_t most_of_part_ = 0;      ///< of the sum
  std::int64_t most_activations_ = 0;  ///< in this step
  bool attributed_ = true;             ///< what the ops keep is that of the most activations
  std::int64_t running_ = 0;           ///< StepPart::activations of the part that runs
  std::int64_t from_before_ = 0;
  std::uint64_t step_ = 0;
  std::vector<StepPart> parts_{};
  /// Parts by the id of their output. A later tensor may get the id of one that is gone; then its part counts.
  std::map<const void*, std::size_t> forward_parts_{};
  std::vector<std::int64_t> kept_{};  ///< Saved::all: of each forward part, bytes that it would give back
  /// False between the first op of a tape, or of a second run, and the first backward.
  bool runs_back_ = true;
};

}  // namespace tinymp::train
