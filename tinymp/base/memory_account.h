#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

/// Counts the memory of tensors by what they are for. Storage (tensor/storage.h) reports each block that it takes and
/// gives back; nothing is computed from shapes.
///
///   const auto account = std::make_shared<MemoryAccount>();
///   { const MemoryRegion counted(account); ... }       // blocks taken here count
///   account->peak(MemoryKind::activations)
namespace tinymp {

enum class MemoryKind : std::uint8_t {
  weights,      ///< parameters and buffers in the format of the recipe
  masters,      ///< wider copies of the parameters
  optimizer,    ///< moments, velocities
  gradients,    ///< of the parameters
  activations,  ///< what a tape keeps for the backward pass
  workspace,    ///< all else
};
inline constexpr std::size_t memory_kinds = 6;

/// The bytes of each kind now, and at most so far. All threads may report at once.
class MemoryAccount {
 public:
  void take(MemoryKind kind, std::size_t bytes) {
    of(kind).add(static_cast<std::int64_t>(bytes));
    all_.add(static_cast<std::int64_t>(bytes));
  }
  void give_back(MemoryKind kind, std::size_t bytes) {
    of(kind).add(-static_cast<std::int64_t>(bytes));
    all_.add(-static_cast<std::int64_t>(bytes));
  }
  /// A block turned out to be for something else.
  void move(MemoryKind from, MemoryKind to, std::size_t bytes) {
    of(from).add(-static_cast<std::int64_t>(bytes));
    of(to).add(static_cast<std::int64_t>(bytes));
  }

  std::int64_t now(MemoryKind kind) const { return of(kind).now; }
  std::int64_t peak(MemoryKind kind) const { return of(kind).peak; }
  std::int64_t peak() const {
    return all_.peak;
  }  ///< of the sum: the peaks of two kinds need not come at once

 private:
  struct Count {
    std::atomic<std::int64_t> now{0}, peak{0};

    void add(std::int64_t bytes) {
      const std::int64_t sum = now.fetch_add(bytes, std::memory_order_relaxed) + bytes;
      std::int64_t most = peak.load(std::memory_order_relaxed);
      while (sum > most && !peak.compare_exchange_weak(most, sum, std::memory_order_relaxed)) {
      }
    }
  };
  Count& of(MemoryKind kind) { return kinds_[static_cast<std::size_t>(kind)]; }
  const Count& of(MemoryKind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }

  std::array<Count, memory_kinds> kinds_{};
  Count all_{};
};

/// While it lives, the blocks that this thread takes count in an account, as one kind. A block counts until it is given
/// back, however long after the region. Regions live on the stack and nest; the innermost one decides. Without a region
/// nothing is counted. parallel_for takes the region along.
class MemoryRegion {
 public:
  /// An empty account: nothing is counted.
  explicit MemoryRegion(std::shared_ptr<MemoryAccount> account, MemoryKind kind = MemoryKind::workspace)
      : account_(std::move(account)), kind_(kind) {
    current_ = this;
  }
  /// Another kind in the account of the region around it.
  explicit MemoryRegion(MemoryKind kind)
      : MemoryRegion(current_ == nullptr ? nullptr : current_->account_, kind) {}
  ~MemoryRegion() { current_ = outer_; }
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  const std::shared_ptr<MemoryAccount>& account() const { return account_; }
  MemoryKind kind() const { return kind_; }
  void set_kind(MemoryKind kind) { kind_ = kind; }  ///< of the blocks from now on

  static const MemoryRegion* current() { return current_; }  ///< null: no region
  /// For a thread that works for another: its blocks count as those of the other do.
  static void set_current(const MemoryRegion* region) { current_ = region; }

 private:
  inline static thread_local const MemoryRegion* current_ = nullptr;
  std::shared_ptr<MemoryAccount> account_;
  MemoryKind kind_;
  const MemoryRegion* outer_ = current_;
};

/// For what only measures: its blocks do not count.
struct Uncounted : MemoryRegion {
  Uncounted() : MemoryRegion(std::shared_ptr<MemoryAccount>{}) {}
};

}  // namespace tinymp
