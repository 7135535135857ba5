#pragma once

#include <kernels/emu/block.h>

/// cp.async: copies from global to shared memory that go on while the thread computes. A real copy lands at
/// any time before the wait. Here it lands at the latest time allowed, at the wait, and its destination is
/// NaN until then. CUDA C++ Programming Guide, "Pipeline Primitives Interface" (cuda_pipeline.h).
namespace tinymp::kernels::emu {

inline void __pipeline_memcpy_async(void* shared, const void* global, std::size_t bytes, std::size_t zero = 0,
                                    machine::Where where = machine::Where::here()) {
  machine::Block::running()->thread().copies.issue(shared, global, bytes, zero, where);
}
inline void __pipeline_commit() { machine::Block::running()->thread().copies.commit(); }
/// Waits for all groups of this thread except the last `keep`. The copies of other threads need a barrier,
/// too.
inline void __pipeline_wait_prior(std::size_t keep) { machine::Block::running()->thread().copies.wait(keep); }

}  // namespace tinymp::kernels::emu
