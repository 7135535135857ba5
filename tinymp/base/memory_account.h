#pragma once

#include <tinymp/base/error.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
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
  optimizer,    ///< moments, velocities; histories of delayed FP8 scales
  gradients,    ///< of the parameters
  activations,  ///< what a tape keeps for the backward pass
  workspace,    ///< all else that has a shape: the batch, temporaries of an op
  /// What a kernel takes for itself while it runs. It depends on the device, its kernels and the threads, so no shape tells
  /// it; all other kinds are the same on every device.
  scratch,
};
inline constexpr std::size_t memory_kinds = 7;

/// "weights", ..., "scratch"
constexpr std::string_view name_of(MemoryKind kind) {
  constexpr std::string_view names[memory_kinds] = {"weights",     "masters",   "optimizer", "gradients",
                                                    "activations", "workspace", "scratch"};
  return names[static_cast<std::size_t>(kind)];
}

/// Sees each block of an account but scratch, while it is taken. One thread at a time.
class MemoryWatcher {
 public:
  virtual void taken(const void* block, MemoryKind kind, std::int64_t bytes) = 0;
  virtual void given_back(const void* block) noexcept = 0;
  virtual void moved(const void* block, MemoryKind to) = 0;

 protected:
  ~MemoryWatcher() = default;
};

/// A block does not fit the limit of its account.
struct MemoryLimitError : Error {
  using Error::Error;
};

/// The bytes of each kind now, and at most so far. All threads may report at once.
class MemoryAccount {
 public:
  /// Throws MemoryLimitError, and counts nothing, when the sum of all kinds but scratch would pass the limit.
  void take(const void* block, MemoryKind kind, std::size_t bytes) {
    const auto more = static_cast<std::int64_t>(bytes);
    if (kind != MemoryKind::scratch) {
      if (limit_ > 0 && shaped_.now + more > limit_) refuse(kind, more);
      if (watcher_ != nullptr) watcher_->taken(block, kind, more);
      shaped_.add(more);
    }
    of(kind).add(more);
    all_.add(more);
  }
  void give_back(const void* block, MemoryKind kind, std::size_t bytes) noexcept {
    const auto less = -static_cast<std::int64_t>(bytes);
    if (kind != MemoryKind::scratch) {
      if (watcher_ != nullptr) watcher_->given_back(block);
      shaped_.add(less);
    }
    of(kind).add(less);
    all_.add(less);
  }
  /// A block turned out to be for something else; neither kind is scratch.
  void move(const void* block, MemoryKind from, MemoryKind to, std::size_t bytes) {
    if (watcher_ != nullptr && from != to) watcher_->moved(block, to);
    of(from).add(-static_cast<std::int64_t>(bytes));
    of(to).add(static_cast<std::int64_t>(bytes));
  }

  std::int64_t now(MemoryKind kind) const { return of(kind).now; }
  std::int64_t peak(MemoryKind kind) const { return of(kind).peak; }
  /// The peak of the sum: the peaks of two kinds need not come at once.
  std::int64_t peak() const { return all_.peak; }
  /// The peak of the sum of all kinds but scratch, which train::dry_run computes.
  std::int64_t peak_without_scratch() const { return shaped_.peak; }

  /// At most so many bytes at once, scratch aside, from now on; 0: no limit.
  void set_limit(std::int64_t bytes) { limit_ = bytes; }
  /// Null: none. It sees the blocks that are taken from now on.
  void set_watcher(MemoryWatcher* watcher) { watcher_ = watcher; }

 private:
  [[noreturn]] void refuse(MemoryKind kind, std::int64_t more) const;

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
  Count all_{}, shaped_{};
  std::int64_t limit_ = 0;
  MemoryWatcher* watcher_ = nullptr;
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
