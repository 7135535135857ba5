#include <tinymp/base/error.h>
#include <tinymp/tensor/storage.h>
#include <bit>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace tinymp {
namespace {

/// Rounds up to a power of two, or to one and a half times one. So at most a third of a block is wasted, and
/// the block fits the next tensor of nearly the same size.
std::size_t block_size(std::size_t bytes) {
  if (bytes <= 64) return 64;
  const std::size_t power = std::bit_ceil(bytes);
  const std::size_t three_quarters = power / 4 * 3;
  return bytes <= three_quarters ? three_quarters : power;
}

}  // namespace

class BlockPool {
 public:
  explicit BlockPool(bool is_private) : is_private_(is_private) {}
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() { release_waiting(); }  // of all blocks: storage keeps its pool alive

  std::byte* acquire(std::size_t size, Device device) {
    const std::lock_guard lock(mutex_);
    Blocks& blocks = blocks_[{device, size}];
    std::byte* block = nullptr;
    if (!blocks.waiting.empty()) {
      block = blocks.waiting.back();
      blocks.waiting.pop_back();
      ++statistics_.from_pool;
    } else {
      if (blocks.waiting.capacity() == blocks.all) blocks.waiting.reserve(2 * blocks.all + 1);
      block = from_system(size, device);  // may throw; then nothing is counted
      ++blocks.all;
      ++statistics_.from_system;
    }
    statistics_.bytes_in_use += size;
    return block;
  }

  void release(std::byte* block, std::size_t size, Device device) {
    const std::lock_guard lock(mutex_);
    statistics_.bytes_in_use -= size;
    // acquire() reserved the room, so this does not throw: a destructor calls it.
    blocks_.find({device, size})->second.waiting.push_back(block);
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    release_waiting();
  }

  PoolStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  void release_waiting() {
    for (auto& [key, blocks] : blocks_) {
      for (std::byte* block : blocks.waiting) allocator(key.first).release(block, key.second);
      blocks.all -= blocks.waiting.size();
      blocks.waiting.clear();
    }
  }

  /// When memory runs out, gives the waiting blocks of all sizes back, also those of the common pool, and tries again.
  std::byte* from_system(std::size_t size, Device device) {
    try {
      return static_cast<std::byte*>(allocator(device).allocate(size));
    } catch (const MissingError&) {
      throw;
    } catch (const RefusedError&) {
      throw;
    } catch (const Error&) {
      release_waiting();
      if (is_private_) empty_pool();
      return static_cast<std::byte*>(allocator(device).allocate(size));
    }
  }

  /// The blocks of one size on one device.
  struct Blocks {
    std::vector<std::byte*> waiting;  ///< its capacity is at least `all`
    std::size_t all = 0;              ///< the number of blocks in use or waiting
  };
  const bool is_private_;
  std::mutex mutex_;
  std::map<std::pair<Device, std::size_t>, Blocks> blocks_;
  PoolStatistics statistics_;
};

namespace {

/// Never destroyed: tensors in static storage may outlive any static object.
const std::shared_ptr<BlockPool>& common_pool() {
  static const auto& instance = *new std::shared_ptr<BlockPool>(std::make_shared<BlockPool>(false));
  return instance;
}

thread_local const PrivatePool* current_pool = nullptr;

std::shared_ptr<MemoryAccount> current_account() {
  const MemoryRegion* region = MemoryRegion::current();
  return region == nullptr ? nullptr : region->account();
}

MemoryKind current_kind() {
  const MemoryRegion* region = MemoryRegion::current();
  return region == nullptr ? MemoryKind::workspace : region->kind();
}

}  // namespace

Storage::Storage(std::size_t bytes, Device device) : Storage(bytes, device, current_kind()) {}

Storage::Storage(std::size_t bytes, Device device, MemoryKind kind)
    : bytes_(bytes), device_(device), kind_(kind), account_(current_account()) {
  if (account_) account_->take(this, kind_, bytes_);
  try {
    if (device != Device::meta) pool_ = current_pool == nullptr ? common_pool() : current_pool->blocks_;
    data_ = pool_ ? pool_->acquire(block_size(bytes), device)
                  : static_cast<std::byte*>(allocator(device).allocate(bytes));
  } catch (...) {
    if (account_) account_->give_back(this, kind_, bytes_);
    throw;
  }
}

Storage::~Storage() {
  if (account_) account_->give_back(this, kind_, bytes_);
  if (pool_) pool_->release(data_, block_size(bytes_), device_);
}

void Storage::count_as(MemoryKind kind) {
  std::shared_ptr<MemoryAccount> account = current_account();
  if (!account) return;
  if (account == account_) {
    account->move(this, kind_, kind, bytes_);
  } else {
    account->take(this, kind, bytes_);
    if (account_) account_->give_back(this, kind_, bytes_);
    account_ = std::move(account);
  }
  kind_ = kind;
}

bool Storage::counts_as(MemoryKind kind) const {
  return account_ != nullptr && kind_ == kind && account_ == current_account();
}

PrivatePool::PrivatePool() : blocks_(std::make_shared<BlockPool>(true)) {}

PrivatePool::Region::Region(const PrivatePool& pool) : outer_(std::exchange(current_pool, &pool)) {}
PrivatePool::Region::~Region() { current_pool = outer_; }

PoolStatistics pool_statistics() { return common_pool()->statistics(); }

void empty_pool() { common_pool()->clear(); }

}  // namespace tinymp
