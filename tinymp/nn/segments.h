#pragma once

#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The blocks of a model, and the segments that they make for recompute() (autograd/recompute.h).
///
/// A model runs its blocks by run_blocks(). Without a region of Recomputing this is a loop. In a region neighbouring blocks
/// make segments, each of which keeps its input alone. No bit changes.
///
///   {
///     const Recomputing region(Segments::square_root());
///     loss = cross_entropy(model(images), labels);
///   }
///   tape.backward(loss);      // the model still lives
namespace tinymp::nn {

struct Segments {
  enum class Kind : std::uint8_t { none, one_a_block, square_root, count };
  Kind kind = Kind::none;
  std::int64_t number = 0;  ///< of Kind::count

  static Segments one_a_block() { return {Kind::one_a_block, 0}; }
  static Segments square_root() { return {Kind::square_root, 0}; }  ///< of the number of blocks, rounded
  static Segments count(std::int64_t number) { return {Kind::count, number}; }
  /// "blocks", "sqrt" or a number. Throws Error for any other text, and for a number below 1.
  static Segments from(std::string_view text);

  bool any() const { return kind != Kind::none; }
  /// How many segments so many blocks make. Throws Error when there are no blocks, or more segments than blocks.
  std::int64_t of(std::int64_t blocks) const;
  std::string text() const;  ///< as from() takes it; "" for none
  bool operator==(const Segments&) const = default;
};

/// While it lives, models on this thread recompute their blocks. Regions live on the stack and nest; the innermost one
/// decides.
class Recomputing {
 public:
  using Block = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
  /// Runs a segment. recompute() is one.
  using Runner = std::function<std::vector<Tensor>(Block segment, std::vector<Tensor> inputs)>;

  explicit Recomputing(const Segments& segments, Runner runner = {});
  ~Recomputing();
  Recomputing(const Recomputing&) = delete;
  Recomputing& operator=(const Recomputing&) = delete;
  static void* operator new(std::size_t) = delete;

  static const Recomputing* current();  ///< null: no region
  const Segments& segments() const { return segments_; }
  std::vector<Tensor> run(Block segment, std::vector<Tensor> inputs) const {
    return runner_(std::move(segment), std::move(inputs));
  }

 private:
  Segments segments_;
  Runner runner_;
  const Recomputing* outer_;
};

/// Returns block(count - 1, ... block(1, block(0, x))). What `block` refers to must live until backward is over. Throws Error
/// where Segments::of() does.
Tensor run_blocks(std::int64_t count, const Tensor& x,
                  const std::function<Tensor(std::int64_t i, const Tensor& x)>& block);
/// The same for blocks that hand on several tensors.
std::vector<Tensor> run_blocks(
    std::int64_t count, std::vector<Tensor> state,
    const std::function<std::vector<Tensor>(std::int64_t i, const std::vector<Tensor>& state)>& block);

}  // namespace tinymp::nn
