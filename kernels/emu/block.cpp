#include <kernels/emu/block.h>
#include <kernels/emu/kernel_name.h>
#include <tinymp/base/error.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <utility>

namespace tinymp::kernels::emu::machine {
namespace {

thread_local Block* running_block = nullptr;

/// Thrown in the waiting threads when another one has failed, so that their stacks are unwound.
struct Unwind {};

void print_place(const char*) {
  if (running_block == nullptr) return;
  const std::string line = "In " + running_block->place() + "\n";
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, line.data(), line.size());  // part of ASan's report
}

}  // namespace

Block::Block() { before_report(print_place); }
Block::~Block() = default;
Block* Block::running() { return running_block; }

void Block::run(const Launch& launch, uint3 index) {
  const Quiet quiet;
  begin(launch, index);
  publish(&start_tag_);
  leave(host_);  // returns when no thread can go on
  if (!error_ && returned_ != size()) error_ = std::make_exception_ptr(Error(deadlock()));
  if (error_) unwind_waiting();
  observe(&end_tag_);
  idle_.insert(idle_.end(), retired_.begin(), retired_.end());
  retired_.clear();
  running_block = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  check_shared();
}

void Block::begin(const Launch& launch, uint3 index) {
  const unsigned count = static_cast<unsigned>(launch.block.count());
  launch_ = &launch;
  running_block = this;
  fiber_ = &host_;
  current_ = nullptr;
  gridDim = launch.grid;
  blockDim = launch.block;
  blockIdx = index;
  started_ = 0;
  returned_ = 0;
  unwinding_ = false;
  ready_.clear();
  threads_.resize(count);
  unsigned x = 0, y = 0, z = 0;
  for (unsigned rank = 0; rank < count; ++rank) {
    Thread& thread = threads_[rank];
    thread.rank = rank;
    thread.index = {x, y, z};
    if (++x == blockDim.x) x = 0, ++y;
    if (y == blockDim.y) y = 0, ++z;
    thread.state = Thread::State::unborn;
    thread.fiber = nullptr;
  }
  warps_.resize((count + 31) / 32);
  for (unsigned first = 0; first < count; first += 32) {
    Warp& warp = warps_[first / 32];
    warp.lanes = count - first >= 32 ? ~0u : (1u << (count - first)) - 1;
    warp.returned = 0;
    for (Rendezvous& meeting : warp.meetings) meeting.waiting.clear();
  }
  barrier_.waiting.clear();
  prepare_shared();
  // TSan orders everything before the making of a thread before everything that this thread does. So all
  // fibers are made here, and no CUDA thread makes another.
  while (under_tsan && idle_.size() < count) add_fiber();
}

void Block::add_fiber() {
  fibers_.push_back(std::make_unique<Fiber>(&Block::fiber_entry));
  idle_.push_back(fibers_.back().get());
}

// Chooses the thread that runs next.
// -----------------------------------------------------------------------------------------------

/// Leaves the fiber `from`, and returns when it is picked again.
void Block::leave(Fiber& from) {
  Fiber& next = pick();
  fiber_ = &next;
  if (&next != &from) Fiber::change(from, next);
}

/// Picks a woken thread first, then one that has not begun, and the host when there is neither.
Fiber& Block::pick() {
  if (error_ && !unwinding_) return host_;
  if (!ready_.empty()) {
    Thread& thread = *ready_.front();
    ready_.pop_front();
    enter(thread);
    return *thread.fiber;
  }
  if (unwinding_ || started_ == launch_->order.size()) return host_;
  Thread& thread = threads_[launch_->order[started_++]];
  if (idle_.empty()) add_fiber();
  thread.fiber = idle_.back();
  idle_.pop_back();
  enter(thread);
  if (under_tsan) thread.fiber->name(name_of(thread).c_str());
  return *thread.fiber;
}

void Block::enter(Thread& thread) {
  current_ = &thread;
  thread.state = Thread::State::running;
  threadIdx = thread.index;
}

void Block::wait_in(Rendezvous& meeting, Call call) {
  Thread& me = *current_;
  me.state = Thread::State::waiting;
  me.call = call;
  meeting.waiting.push_back(&me);
  leave(*me.fiber);
  if (unwinding_) throw Unwind{};
}

void Block::wake(Rendezvous& meeting) {
  ready_.insert(ready_.end(), meeting.waiting.begin(), meeting.waiting.end());
  meeting.waiting.clear();
  ++meeting.generation;
}

// The life of a thread.
// -----------------------------------------------------------------------------------------------

/// The function of every fiber: it runs CUDA threads one after the other, of this block and of later ones.
void Block::fiber_entry() {
  running_block->fiber_->arrive();
  for (;;) {
    running_block->run_thread();
    running_block->retire();
  }
}

void Block::run_thread() {
  observe(&start_tag_);
  try {
    launch_->run(launch_->arguments);
    check_return();
  } catch (const Unwind&) {
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  publish(&end_tag_);
}

/// Throws Error when another thread waits for the returning one, or a copy of it was never waited for.
void Block::check_return() {
  const Quiet quiet;
  const Thread& me = *current_;
  const auto refuse = [&](const Rendezvous& meeting) {
    const Thread& other = *meeting.waiting.front();
    fail(concat("returned, but ", name_of(other), " waits for it in ", other.call.name, "() at ",
                other.call.where.file, ":", other.call.where.line,
                "; let every thread come there: put the work into an `if` instead of returning early"));
  };
  if (!barrier_.waiting.empty()) refuse(barrier_);
  for (const Rendezvous& meeting : warp().meetings) {
    if (!meeting.waiting.empty() && (meeting.mask >> me.lane() & 1) != 0) refuse(meeting);
  }
  if (const Where* where = me.copies.pending()) {
    fail(concat("returned, but its asynchronous copy issued at ", where->file, ":", where->line,
                " was never waited for; call __pipeline_wait_prior(0) before the data is used"));
  }
}

void Block::retire() {
  const Quiet quiet;
  Thread& me = *current_;
  me.state = Thread::State::returned;
  me.copies.drop();
  warp().returned |= 1u << me.lane();
  ++returned_;
  // TSan takes a stack for a thread. Two CUDA threads of a block must not share one: TSan would see their
  // races as ordered.
  (under_tsan ? retired_ : idle_).push_back(me.fiber);
  leave(*me.fiber);
}

void Block::unwind_waiting() {
  unwinding_ = true;
  ready_.clear();
  for (Thread& thread : threads_) {
    if (thread.state == Thread::State::waiting) ready_.push_back(&thread);
  }
  leave(host_);
}

// Shared memory of the size that the launch asks for.
// -----------------------------------------------------------------------------------------------

void Block::prepare_shared() {
  const std::size_t bytes = launch_->shared_bytes;
  if (!shared_memory_ || bytes != shared_bytes_) {
    shared_memory_ = std::make_unique<unsigned char[]>(bytes + 2 * guard + 256);
    const auto address = reinterpret_cast<std::uintptr_t>(shared_memory_.get());
    shared_ = shared_memory_.get() + (128 - address % 128) % 128 + 128 - guard;
    shared_bytes_ = bytes;
  }
  permit(shared_, bytes + 2 * guard);
  std::memset(shared_, 0xff, bytes + 2 * guard);  // as FP16, BF16 and FP32 these bytes are NaN
  forbid(shared_, guard);
  forbid(shared_ + guard + bytes, guard);
}

void Block::check_shared() const {
  if (under_asan) return;  // ASan has stopped the write already
  const auto touched = [](const unsigned char* p) {
    return std::any_of(p, p + guard, [](unsigned char byte) { return byte != 0xff; });
  };
  if (touched(shared_) || touched(shared_ + guard + shared_bytes_)) {
    throw Error(concat(place(), ": wrote outside of its ", shared_bytes_,
                       " bytes of dynamic shared memory; build with AddressSanitizer to learn where"));
  }
}

// Messages.
// -----------------------------------------------------------------------------------------------

namespace {

std::string coordinates(unsigned x, unsigned y, unsigned z) { return concat("(", x, ",", y, ",", z, ")"); }

}  // namespace

std::string Block::name_of(const Thread& thread) const {
  return "thread " + coordinates(thread.index.x, thread.index.y, thread.index.z);
}

std::string Block::place() const {
  std::string text = concat("kernel ", short_kernel_name(launch_->kernel), ", block ",
                            coordinates(blockIdx.x, blockIdx.y, blockIdx.z));
  if (running_block != nullptr && current_ != nullptr) text += ", " + name_of(*current_);
  return text;
}

void Block::fail(const std::string& what) const { throw Error(place() + ": " + what); }

/// The message when all remaining threads wait for each other. It names each place where some wait.
std::string Block::deadlock() const {
  std::string text = concat("kernel ", short_kernel_name(launch_->kernel), ", block ",
                            coordinates(blockIdx.x, blockIdx.y, blockIdx.z), ": no thread can go on: ");
  const auto tell = [&](const Rendezvous& meeting, const std::string& mask) {
    if (meeting.waiting.empty()) return;
    const Thread& first = *meeting.waiting.front();
    text +=
        concat(name_of(first),
               meeting.waiting.size() > 1 ? concat(" and ", meeting.waiting.size() - 1, " more wait in ")
                                          : std::string(" waits in "),
               first.call.name, "()", mask, " at ", first.call.where.file, ":", first.call.where.line, "; ");
  };
  tell(barrier_, "");
  for (const Warp& warp : warps_) {
    for (const Rendezvous& meeting : warp.meetings) {
      std::ostringstream mask;
      mask << " with mask 0x" << std::hex << meeting.mask;
      tell(meeting, mask.str());
    }
  }
  return text +
         "all lanes named in a mask must make the same call with the same mask, and all threads of a "
         "block must come to its barrier";
}

}  // namespace tinymp::kernels::emu::machine
