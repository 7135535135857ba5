#include <tinymp/base/device.h>
#include <tinymp/base/error.h>
#include <array>
#include <atomic>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tinymp {
namespace {

class HostAllocator : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
    void* memory = ::operator new(bytes, alignment_of(bytes), std::nothrow);
    expect(memory != nullptr, "out of memory: ", bytes, " bytes more were asked for; try a smaller --batch");
#ifdef MADV_HUGEPAGE
    // Only a hint: a system without free huge pages uses small ones.
    if (bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
  }
  void release(void* memory, std::size_t bytes) noexcept override {
    ::operator delete(memory, alignment_of(bytes));
  }

 private:
  /// One page of 2 MB replaces 512 of 4 KB, whose addresses the processor looks up one by one.
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{bytes >= huge_page ? huge_page : 64};
  }
};

Allocator& host() {
  static HostAllocator instance;
  return instance;
}

/// Gives addresses at which there is no memory. They differ, so that blocks can be told apart.
class MetaAllocator : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
    const std::uintptr_t whole = (bytes + 64) / 64 * 64;
    return reinterpret_cast<void*>(next_.fetch_add(whole, std::memory_order_relaxed));
  }
  void release(void*, std::size_t) noexcept override {}
  void copy_in(void*, const void*, std::size_t) override {}
  void copy_out(void* host, const void*, std::size_t bytes) override {
    if (bytes > 0) std::memset(host, 0, bytes);
  }
  void copy_within(void*, const void*, std::size_t) override {}

 private:
  std::atomic<std::uintptr_t> next_{std::uintptr_t{1} << 60};  // no program has memory there
};

Allocator& nowhere() {
  static MetaAllocator instance;
  return instance;
}

Allocator& no_allocator() {
  throw MissingError(
      "this program has no kernels for the device 'cuda': link it with the library tinymp, or stay on the "
      "device cpu");
}

std::array<Allocator& (*)(), devices>& registry() {
  static std::array<Allocator& (*)(), devices> finders{host, no_allocator, nowhere};
  return finders;
}

}  // namespace

Device device_from_name(std::string_view name) {
  for (const Device device : {Device::cpu, Device::cuda}) {
    if (name == name_of(device)) return device;
  }
  throw UsageError(concat("there is no device '", name, "': choose cpu or cuda"));
}

Allocator& allocator(Device device) { return registry()[static_cast<std::size_t>(device)](); }

void register_device(Device device, Allocator& (*find)()) {
  registry()[static_cast<std::size_t>(device)] = find;
}

}  // namespace tinymp
