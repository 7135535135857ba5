#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>

/// Where a tensor lives, and who hands out memory there. A backend registers itself, so nothing below it has
/// to know that it exists.
namespace tinymp {

enum class Device : std::uint8_t { cpu, cuda };

constexpr std::string_view name_of(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }
inline std::ostream& operator<<(std::ostream& out, Device device) { return out << name_of(device); }

/// "cpu" -> Device::cpu; throws UsageError naming the choices.
Device device_from_name(std::string_view name);

class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual void* allocate(std::size_t bytes) = 0;  ///< aligned to 64 bytes; throws Error when memory runs out
  virtual void release(void* memory, std::size_t bytes) noexcept = 0;
};

/// The allocator of a device. Throws MissingError when the machine, or this build, has no such device.
Allocator& allocator(Device device);

/// Called once by a backend when it starts; `allocator` must live as long as the program.
void register_allocator(Device device, Allocator& allocator);

}  // namespace tinymp
