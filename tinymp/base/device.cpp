#include <tinymp/base/device.h>
#include <tinymp/base/error.h>
#include <array>
#include <cstdlib>
#include <new>

namespace tinymp {
namespace {

class HostAllocator : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
    void* memory = ::operator new (bytes, std::align_val_t{64}, std::nothrow);
    expect(memory != nullptr, "out of memory: ", bytes, " bytes more were asked for; try a smaller --batch");
    return memory;
  }
  void release(void* memory, std::size_t) noexcept override {
    ::operator delete (memory, std::align_val_t{64});
  }
};

std::array<Allocator*, 2>& registry() {
  static HostAllocator host;
  static std::array<Allocator*, 2> allocators{&host, nullptr};
  return allocators;
}

}  // namespace

Device device_from_name(std::string_view name) {
  for (const Device device : {Device::cpu, Device::cuda}) {
    if (name == name_of(device)) return device;
  }
  throw UsageError(concat("there is no device '", name, "': choose cpu or cuda"));
}

Allocator& allocator(Device device) {
  Allocator* found = registry()[static_cast<std::size_t>(device)];
  if (found == nullptr) {
    throw MissingError(
        concat("this build cannot train on '", device, "' yet: leave out --device, or give --device cpu"));
  }
  return *found;
}

void register_allocator(Device device, Allocator& allocator) {
  registry()[static_cast<std::size_t>(device)] = &allocator;
}

}  // namespace tinymp
