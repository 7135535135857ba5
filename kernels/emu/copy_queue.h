#pragma once

#include <kernels/emu/where.h>
#include <array>
#include <cstddef>
#include <deque>
#include <vector>

namespace tinymp::kernels::emu::machine {

/// The copies that one CUDA thread has under way (cp.async). From the moment it is asked for until it is
/// waited for, a copy leaves NaN bytes at its destination, and AddressSanitizer stops a thread that looks there.
class CopyQueue {
 public:
  /// 4, 8 or 16 bytes, aligned to that many; the last `zero` of them become 0 instead. Throws Error.
  void issue(void* to, const void* from, std::size_t bytes, std::size_t zero, Where where);
  /// All that was issued since the last commit() is one group.
  void commit();
  /// Done with all groups but the last `keep`.
  void wait(std::size_t keep);
  /// Done with everything, committed or not.
  void wait_all();

  /// Where the oldest copy was issued that no wait has reached; null when there is none.
  const Where* pending() const { return copies_.empty() ? nullptr : &copies_.front().where; }
  /// Forgets what is pending.
  void drop();

 private:
  struct Copy {
    void* to;
    std::array<unsigned char, 16> value;
    std::size_t bytes;
    Where where;
  };
  void land(std::size_t count);

  std::deque<Copy> copies_;
  std::deque<std::size_t> groups_;  // sizes of the committed ones
  std::size_t open_ = 0;            // copies after these
};

}  // namespace tinymp::kernels::emu::machine
