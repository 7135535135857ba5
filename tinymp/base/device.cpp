#include <tinymp/base/device.h>
#include <tinymp/base/error.h>
#include <array>
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

Allocator& host() {
  static HostAllocator instance;
  return instance;
}

Allocator& nobody() {
  throw MissingError(
      "no backend for the device 'cuda' is linked into this program; use a tensor op, or stay on the cpu");
}

std::array<Allocator& (*)(), 2>& registry() {
  static std::array<Allocator& (*)(), 2> finders{host, nobody};
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
