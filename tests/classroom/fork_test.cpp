#include <tests/catch.h>
#include <unistd.h>

#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/sandbox.h>
#include <cstdlib>
#include <new>

// Between fork and exec nothing is allocated: another thread may have held the heap's lock when the process
// was copied, and then the copy waits for it forever.
namespace {

/// While it is set, a copy of this process that allocates ends at once.
pid_t only_one_to_allocate = 0;
constexpr int has_allocated = 99;

}  // namespace

void* operator new(std::size_t bytes) {
  if (only_one_to_allocate != 0 && getpid() != only_one_to_allocate) _exit(has_allocated);
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tinymp::test {

using namespace classroom;

TEST_CASE("process: nothing is allocated between fork and exec, whatever the fence") {
  const ScratchFolder scratch("fork");
  for (const Fence fence : {Fence::none, Fence::limits, Fence::landlock, Fence::bubblewrap}) {
    INFO(name_of(fence));
    only_one_to_allocate = getpid();
    const Finished plain = run({"/bin/sh", "-c", "exit 3"}, {.seconds = 10}, {fence, scratch.path()});
    const Finished none = run({"/no/such/program"}, {.seconds = 10}, {fence, scratch.path()});
    only_one_to_allocate = 0;
    CAPTURE(plain.output);
    CHECK(plain.code != has_allocated);
    CHECK(none.code != has_allocated);
    if (fence == Fence::none || fence == Fence::limits) CHECK(plain.code == 3);
  }
}

}  // namespace tinymp::test
