#pragma once

#include <tinymp/base/device.h>
#include <tinymp/base/memory_account.h>
#include <cstddef>
#include <memory>

/// Memory of tensors. A training step releases and needs the same blocks again and again, so released blocks
/// wait in a pool. After the first step the pool needs no memory from the system. Blocks of Device::meta are no memory: they
/// count, and come from no pool.
namespace tinymp {

class BlockPool;

class Storage {
 public:
  /// Not initialised. Counts as the current MemoryRegion says. Throws MemoryLimitError where its account has a limit.
  Storage(std::size_t bytes, Device device);
  /// Counts as `kind` in the account of the current MemoryRegion.
  Storage(std::size_t bytes, Device device, MemoryKind kind);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  /// Counts as `kind` from now on, in the account of the current MemoryRegion. Without one nothing changes.
  void count_as(MemoryKind kind);
  /// True when it counts as `kind` in the account of the current MemoryRegion.
  bool counts_as(MemoryKind kind) const;

 private:
  std::byte* data_;
  std::size_t bytes_;
  Device device_;
  MemoryKind kind_;
  std::shared_ptr<MemoryAccount> account_;  ///< empty: it does not count
  std::shared_ptr<BlockPool> pool_;         ///< where the block goes back to; null on Device::meta
};

/// Blocks that one user takes and gives back apart from all others, so that their addresses stay its own: those of a
/// recorded graph (kernels/graph.h). They go back to the system with the last storage that lies in one.
class PrivatePool {
 public:
  PrivatePool();

  /// While it lives, storage that this thread makes lies in the pool.
  class Region {
   public:
    explicit Region(const PrivatePool& pool);
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

   private:
    const PrivatePool* outer_;
  };

 private:
  friend class Storage;
  std::shared_ptr<BlockPool> blocks_;
};

/// The counters of the common pool, over all devices.
struct PoolStatistics {
  std::size_t from_system = 0;   ///< blocks that came from the system
  std::size_t from_pool = 0;     ///< blocks that were used again
  std::size_t bytes_in_use = 0;  ///< bytes that tensors hold now
};
PoolStatistics pool_statistics();

/// Gives all waiting blocks back to the system.
void empty_pool();

}  // namespace tinymp
