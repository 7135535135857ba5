#pragma once

#include <kernels/emu/where.h>
#include <array>
#include <cstddef>
#include <deque>
#include <vector>

namespace tinymp::kernels::emu::machine {

/// The copies of one CUDA thread that are under way (cp.async). From issue() until the wait the destination
/// of a copy is NaN. AddressSanitizer stops a thread that reads or writes it there, if the copy has at least
/// 8 bytes.
class CopyQueue {
 public:
  /// Starts a copy of 4, 8 or 16 bytes, aligned to that many. The last `zero` bytes become 0. Throws Error
  /// otherwise.
  void issue(void* to, const void* from, std::size_t bytes, std::size_t zero, Where where);
  /// Makes one group of all copies issued since the last commit().
  void commit();
  /// Finishes all groups except the last `keep`.
  void wait(std::size_t keep);
  /// Finishes all copies, committed or not.
  void wait_all();

  /// The place that issued the oldest unfinished copy; null when there is none.
  const Where* pending() const { return copies_.empty() ? nullptr : &copies_.front().where; }
  /// Drops all unfinished copies.
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
  std::deque<std::size_t> groups_;  // sizes of the committed groups
  std::size_t open_ = 0;            // copies after these
};

}  // namespace tinymp::kernels::emu::machine
