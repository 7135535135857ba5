#pragma once

#include <tinymp/tensor/view.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

/// Where the time of a training step goes, kernel by kernel.
namespace tinymp::kernels {

enum class Trans : bool;
struct Epilogue;

/// All calls of one kernel on operands of the same shapes.
struct ProfileLine {
  std::string kernel{};    ///< "gemm"
  std::string operands{};  ///< "(784,64):f16^T (64,128):f16 -> (784,128):f16": what is last is written
  std::string way{};       ///< which of several kernels ran: a rung of the GEMM ladder; "" where there is one
  std::int64_t calls = 0;
  double seconds = 0;  ///< of all calls together
};

/// While it lives every call of a kernel is timed, on the thread that calls. A GPU is not waited for: there
/// it is the time to hand the kernel over.
class Profile {
 public:
  Profile();  ///< throws Error while another one lives
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  std::vector<ProfileLine> lines() const;  ///< the most expensive first
};

namespace detail {

inline std::atomic<bool> profiling = false;
inline thread_local const char* way = "";  ///< of the call that this thread is in

/// A function that chooses between kernels says here which one it launches. `name` is never freed.
inline void tell_way(const char* name) { way = name; }

/// How one argument reads in `operands`; most say nothing.
void describe(std::string& text, const View& view);
void describe(std::string& text, Trans transposed);
void describe(std::string& text, const Epilogue& after);
template <class Other>
void describe(std::string&, const Other&) {}

/// One call, from here to the end of its block. Without a profile it costs one load.
class TimedCall {
 public:
  template <class... Arguments>
  explicit TimedCall(const char* kernel, const Arguments&... arguments) {
    if (!profiling.load(std::memory_order_relaxed)) return;
    (describe(operands_, arguments), ...);
    kernel_ = kernel;
    way = "";
    start_ = std::chrono::steady_clock::now();
  }
  ~TimedCall() {
    if (kernel_ != nullptr) end();
  }
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;

 private:
  void end() noexcept;

  const char* kernel_ = nullptr;
  std::string operands_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace detail
}  // namespace tinymp::kernels
