#include <kernels/emu/memory.h>
#include <kernels/emu/sanitizer.h>
#include <kernels/recording.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

namespace tinymp::kernels::emu {
namespace {

constexpr std::size_t guard = 256;  // cudaMalloc aligns to 256 bytes
constexpr unsigned char guard_byte = 0xa5;

class DeviceMemory : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
    refuse_in_recording("memory from the system");
    auto* const begin = static_cast<unsigned char*>(
        ::operator new (bytes + 2 * guard, std::align_val_t{guard}, std::nothrow));
    expect(begin != nullptr, "out of memory on the emulated GPU: ", bytes,
           " bytes more were asked for; try a smaller --batch");
    set_guards(begin, bytes);
    std::memset(begin + guard, 0xff, bytes);
    const std::lock_guard lock(mutex_);
    sizes_[begin] = bytes;
    return begin + guard;
  }

  void copy_in(void* device, const void* host, std::size_t bytes) override {
    refuse_in_recording("a copy to the device");
    Allocator::copy_in(device, host, bytes);
  }
  void copy_out(void* host, const void* device, std::size_t bytes) override {
    refuse_in_recording("a copy from the device");
    Allocator::copy_out(host, device, bytes);
  }
  void copy_within(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0 && recording != nullptr)
      return recording->add("copy", [=] { std::memcpy(to, from, bytes); });
    Allocator::copy_within(to, from, bytes);
  }

  void release(void* memory, std::size_t) noexcept override {
    auto* const begin = static_cast<unsigned char*>(memory) - guard;
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(begin);
    if (found == sizes_.end()) return;
    machine::permit(begin, found->second + 2 * guard);
    sizes_.erase(found);
    ::operator delete (begin, std::align_val_t{guard});
  }

  void check(const std::string& kernel) {
    if (machine::under_asan) return;  // ASan needs no guards, and forbids reading them
    const std::lock_guard lock(mutex_);
    for (const auto& [begin, bytes] : sizes_) {
      const bool before = touched(begin), after = touched(begin + guard + bytes);
      if (!before && !after) continue;
      set_guards(begin, bytes);
      throw Error(concat("kernel ", kernel, " wrote ", before ? "before" : "behind", " an array of ", bytes,
                         " bytes in global memory; build with AddressSanitizer to learn where"));
    }
  }

 private:
  static void set_guards(unsigned char* begin, std::size_t bytes) {
    machine::permit(begin, bytes + 2 * guard);
    std::memset(begin, guard_byte, guard);
    std::memset(begin + guard + bytes, guard_byte, guard);
    machine::forbid(begin, guard);
    machine::forbid(begin + guard + bytes, guard);
  }
  static bool touched(const unsigned char* p) {
    return std::any_of(p, p + guard, [](unsigned char byte) { return byte != guard_byte; });
  }

  std::mutex mutex_;
  std::map<unsigned char*, std::size_t> sizes_;
};

DeviceMemory& memory() {
  static DeviceMemory* const memory = new DeviceMemory;  // static tensors may outlive every other object
  return *memory;
}

}  // namespace

Allocator& device_memory() { return memory(); }
void machine::check_guards(const std::string& kernel) { memory().check(kernel); }

}  // namespace tinymp::kernels::emu
