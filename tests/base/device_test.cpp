#include <tinymp/base/device.h>

#include <tests/base/sanitized.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <cstdint>
#include <sstream>

namespace tinymp::test {
namespace {

TEST_CASE("a device is found by its name, and says it") {
  CHECK(device_from_name("cpu") == Device::cpu);
  CHECK(device_from_name("cuda") == Device::cuda);
  std::ostringstream text;
  text << Device::cpu << ' ' << Device::cuda;
  CHECK(text.str() == "cpu cuda");
  for (const char* bad : {"", "gpu", "CPU", "cpu "}) {
    CHECK_THROWS_AS(device_from_name(bad), UsageError);
    CHECK_SAYS(std::string("there is no device '") + bad + "': choose cpu or cuda", device_from_name(bad));
  }
}

TEST_CASE("memory of the CPU is aligned to 64 bytes") {
  Allocator& cpu = allocator(Device::cpu);
  for (const std::size_t bytes : {1u, 63u, 64u, 65u, 100000u}) {
    void* memory = cpu.allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    static_cast<char*>(memory)[bytes - 1] = 1;
    cpu.release(memory, bytes);
  }
}

TEST_CASE("more memory than there is is refused, with a way out") {
  if (sanitized) SKIP_TEST("a sanitizer ends a program that asks for so much");
  const std::size_t too_much = std::size_t{1} << 60;
  CHECK_SAYS("out of memory: 1152921504606846976 bytes", allocator(Device::cpu).allocate(too_much));
}

/// A device that counts what it hands out.
struct CountingAllocator : Allocator {
  int held = 0;
  void* allocate(std::size_t bytes) override { return ++held, allocator(Device::cpu).allocate(bytes); }
  void release(void* memory, std::size_t bytes) noexcept override {
    --held;
    allocator(Device::cpu).release(memory, bytes);
  }
};

TEST_CASE("a device is missing until a backend registers it") {
  CHECK_THROWS_AS(allocator(Device::cuda), MissingError);
  CHECK_SAYS("'cuda'", allocator(Device::cuda));
  static CountingAllocator backend;
  register_device(Device::cuda, []() -> Allocator& { return backend; });
  void* memory = allocator(Device::cuda).allocate(100);
  CHECK(backend.held == 1);
  allocator(Device::cuda).release(memory, 100);
  CHECK(backend.held == 0);
}

}  // namespace
}  // namespace tinymp::test
