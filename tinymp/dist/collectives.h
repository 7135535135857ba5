#pragma once

#include <tinymp/dist/transport.h>
#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// What ranks do together. All ranks call the same functions in the same order. Each throws what Exchange::wait() does.
namespace tinymp::dist {

/// What each rank gives, by rank: as many bytes each.
std::vector<std::vector<std::byte>> all_gather(Transport& ranks, std::span<const std::byte> own);
/// The same for texts of any lengths.
std::vector<std::string> all_gather(Transport& ranks, const std::string& own);

/// The text of rank `from`, on all.
std::string broadcast(Transport& ranks, const std::string& text, int from = 0);

/// The largest value that a rank gives: one decision for all. found_inf of one rank is that of all.
std::int64_t largest(Transport& ranks, std::int64_t own);

/// Returns when all ranks have called it.
void barrier(Transport& ranks);

/// What a rank adds to the elements of a sum from `first` on. It is added in its own format.
struct Part {
  std::int64_t first = 0;
  Tensor values{};  ///< on the CPU
};

/// The elements of `size` that rank `rank` of `ranks` adds up: the same number for each, give or take one.
struct Owned {
  std::int64_t begin, end;
};
Owned owned_by(int rank, int ranks, std::int64_t size);
/// Those of each rank.
std::vector<Owned> equally_owned(int ranks, std::int64_t size);

/// The parts of all ranks, added up into the elements that this rank owns, as sum_in_rank_order() does. The parts may come one
/// after another: those that are there travel while the next ones are computed.
class ReduceScatter {
 public:
  /// `owned` has the elements of each rank.
  ReduceScatter(Transport& ranks, std::vector<Owned> owned) : ranks_(ranks), owned_(std::move(owned)) {}

  /// Sends the next parts, one message to each rank. Does not wait.
  void begin(std::span<const Part> parts);
  /// Waits for all messages.
  void wait();
  /// Adds all parts up, after wait(). The elements of other ranks keep their values.
  void add_to(const View& sum);

 private:
  struct Bucket {
    std::vector<Part> parts;
    std::vector<std::vector<std::byte>> sent, received;  ///< by rank
    std::unique_ptr<Exchange> under_way;
  };
  Transport& ranks_;
  std::vector<Owned> owned_;
  std::vector<Bucket> buckets_{};
};
/// Gives all ranks the elements of `values` that each owns.
void all_gather(Transport& ranks, const View& values, std::span<const Owned> owned);

/// Adds up the parts of all ranks into `sum`, on all ranks: those of rank 0 in their order, then those of rank 1, ... The
/// first part of an element is rounded to the format of the sum, each other is added to it there. These are the bits of a
/// backward that reaches the parts in this order (autograd/tape.h); elements without a part keep their values.
/// Two parts are of the same elements, or have none in common. Each rank has parts of the same elements and formats, in the
/// same order. `sum` lies on the CPU.
///
/// Rank r receives all parts of the elements that it owns, adds them, and sends the sums to the others.
void sum_in_rank_order(Transport& ranks, std::span<const Part> parts, const View& sum);

}  // namespace tinymp::dist
