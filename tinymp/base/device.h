#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string_view>

/// The devices of tensors and their allocators. A backend registers itself, so the
/// layers below it need not know it.
namespace tinymp {

/// Device::meta has no memory and runs no kernel: its tensors have a shape and a format, and no values. A step there
/// counts its bytes as a real one does (train/dry_run.h). What is read from it is 0. PyTorch calls it the same:
/// https://docs.pytorch.org/docs/stable/meta.html
enum class Device : std::uint8_t { cpu, cuda, meta };
inline constexpr std::size_t devices = 3;

constexpr std::string_view name_of(Device device) {
  constexpr std::string_view names[devices] = {"cpu", "cuda", "meta"};
  return names[static_cast<std::size_t>(device)];
}
inline std::ostream& operator<<(std::ostream& out, Device device) { return out << name_of(device); }

/// "cpu" -> Device::cpu; throws UsageError naming the choices: cpu and cuda, for nothing trains on meta.
Device device_from_name(std::string_view name);

/// Memory of a device, and copies in and out. Copies take their turn among the kernels of the device.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual void* allocate(std::size_t bytes) = 0;  ///< aligned to 64 bytes; throws Error when memory runs out
  virtual void release(void* memory, std::size_t bytes) noexcept = 0;

  // These defaults serve devices whose memory the CPU sees. They test for 0 bytes, because memcpy must not
  // get the null pointer of an empty vector.
  /// The caller may change `host` after the call.
  virtual void copy_in(void* device, const void* host, std::size_t bytes) {
    if (bytes > 0) std::memcpy(device, host, bytes);
  }
  /// Waits for the device.
  virtual void copy_out(void* host, const void* device, std::size_t bytes) {
    if (bytes > 0) std::memcpy(host, device, bytes);
  }
  virtual void copy_within(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
};

/// The allocator of a device. Throws MissingError when the machine, or this build, has no such device.
Allocator& allocator(Device device);

/// A backend says how to reach it; no GPU is looked for before it is asked for. What `find` returns must
/// live as long as the program; it throws MissingError when there is no such device.
void register_device(Device device, Allocator& (*find)());

}  // namespace tinymp
