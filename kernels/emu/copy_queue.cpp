#include <kernels/emu/accesses.h>
#include <kernels/emu/block.h>
#include <kernels/emu/copy_queue.h>
#include <tinymp/base/error.h>
#include <cstdint>
#include <cstring>

namespace tinymp::kernels::emu::machine {

void CopyQueue::issue(void* to, const void* from, std::size_t bytes, std::size_t zero, Where where) {
  const auto aligned = [&](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % bytes == 0; };
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zero > bytes || !aligned(to) || !aligned(from)) {
    Block::running()->fail(concat("an asynchronous copy of ", bytes, " bytes, ", zero, " of them zero, at ",
                                  where.file, ":", where.line,
                                  ": it takes 4, 8 or 16 bytes, both addresses multiples of that"));
  }
  if (zero < bytes) note_access(from, bytes - zero, where, 0);
  note_access(to, bytes, where, 1);
  Copy copy{to, {}, bytes, where};
  std::memcpy(copy.value.data(), from, bytes - zero);
  std::memset(to, 0xff, bytes);
  if (bytes >= 8) forbid(to, bytes);  // ASan works in units of 8 bytes
  copies_.push_back(copy);
  ++open_;
}

void CopyQueue::commit() {
  groups_.push_back(open_);
  open_ = 0;
}

void CopyQueue::wait(std::size_t keep) {
  while (groups_.size() > keep) {
    land(groups_.front());
    groups_.pop_front();
  }
}

void CopyQueue::wait_all() {
  land(copies_.size());
  groups_.clear();
  open_ = 0;
}

void CopyQueue::land(std::size_t count) {
  for (; count > 0; --count) {
    const Copy copy = copies_.front();
    copies_.pop_front();
    permit(copy.to, copy.bytes);
    std::memcpy(copy.to, copy.value.data(), copy.bytes);
  }
}

void CopyQueue::drop() {
  for (const Copy& copy : copies_) permit(copy.to, copy.bytes);
  copies_.clear();
  groups_.clear();
  open_ = 0;
}

}  // namespace tinymp::kernels::emu::machine
