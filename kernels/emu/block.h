#pragma once

#include <kernels/emu/copy_queue.h>
#include <kernels/emu/fiber.h>
#include <kernels/emu/index.h>
#include <kernels/emu/where.h>
#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

/// A block of CUDA threads on one OS thread: it knows which thread runs, which wait and which have returned.
///
/// Each CUDA thread runs until it has to wait (in __syncthreads(), a shuffle, an mma), then another goes on.
/// A thread that never waits costs no switch: the next one starts on the same stack, as in a plain loop.
namespace tinymp::kernels::emu::machine {

/// The data that all blocks of one launch share.
struct Launch {
  const char* kernel = "";  ///< as in kernel_name.h
  dim3 grid, block;
  std::size_t shared_bytes = 0;        ///< bytes of dynamic shared memory
  void (*run)(const void*) = nullptr;  ///< calls the kernel with `arguments`
  const void* arguments = nullptr;
  std::vector<unsigned> order{};  ///< order of the threads of a block, by rank
};

/// One CUDA thread.
struct Thread {
  enum class State : std::uint8_t { unborn, running, waiting, returned };

  unsigned rank = 0;  ///< x + blockDim.x * (y + blockDim.y * z); lanes of a warp have consecutive ranks
  uint3 index{};      ///< its threadIdx
  State state = State::unborn;
  Fiber* fiber = nullptr;
  Call call;  ///< the call in which it waits
  CopyQueue copies;

  unsigned warp() const { return rank / 32; }
  unsigned lane() const { return rank % 32; }
};

/// Threads that wait until all expected ones have come (rendezvous.h).
struct Rendezvous {
  unsigned mask = 0;  ///< the expected lanes
  Call call;
  std::vector<Thread*> waiting;
  std::array<void*, 32> offers{};  ///< the offer of each lane
  unsigned generation = 0;
  std::array<char, 2> tags{};  ///< for publish() and observe(): one, then the other
};

struct Warp {
  unsigned lanes = 0;               ///< mask of the lanes: the last warp may have fewer than 32
  unsigned returned = 0;            ///< mask of the returned lanes
  std::deque<Rendezvous> meetings;  ///< one for each mask
};

class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// The block that runs on this OS thread; null outside of kernels.
  static Block* running();

  /// Runs the block `index` of the grid to its end. Throws the exception of a CUDA thread, or Error when no
  /// thread can go on. The stacks of the other threads are unwound first.
  void run(const Launch& launch, uint3 index);

  // For the intrinsics, in a kernel.
  Thread& thread() { return *current_; }
  Thread& thread(unsigned rank) { return threads_[rank]; }
  Warp& warp() { return warps_[current_->warp()]; }
  Rendezvous& barrier() { return barrier_; }
  unsigned size() const { return static_cast<unsigned>(threads_.size()); }
  unsigned returned() const { return returned_; }
  void* shared() { return shared_ + guard; }
  std::size_t shared_bytes() const { return shared_bytes_; }

  /// The current thread waits until wake(meeting).
  void wait_in(Rendezvous& meeting, Call call);
  void wake(Rendezvous& meeting);

  /// Throws Error: kernel, block, thread, then `what`.
  [[noreturn]] void fail(const std::string& what) const;
  std::string place() const;
  std::string name_of(const Thread& thread) const;

 private:
  static constexpr std::size_t guard = 64;  // bytes on both sides of dynamic shared memory

  [[noreturn]] static void fiber_entry();
  void begin(const Launch& launch, uint3 index);
  void add_fiber();
  void run_thread();
  void check_return();
  void retire();
  Fiber& pick();
  void enter(Thread& thread);
  void leave(Fiber& from);
  void unwind_waiting();
  std::string deadlock() const;
  void prepare_shared();
  void check_shared() const;

  const Launch* launch_ = nullptr;
  Fiber host_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_, retired_;
  Fiber* fiber_ = nullptr;  // the fiber that runs
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Rendezvous barrier_;
  std::size_t started_ = 0;  // threads that have begun, in launch_->order
  unsigned returned_ = 0;
  std::deque<Thread*> ready_;
  Thread* current_ = nullptr;
  std::exception_ptr error_;
  bool unwinding_ = false;
  std::unique_ptr<unsigned char[]> shared_memory_;
  unsigned char* shared_ = nullptr;
  std::size_t shared_bytes_ = 0;
  char start_tag_ = 0, end_tag_ = 0;
};

}  // namespace tinymp::kernels::emu::machine
