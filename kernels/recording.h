#pragma once

#include <tinymp/base/error.h>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What the executors write down while a graph is recorded (graph.h).
namespace tinymp::kernels {

struct Recording {
  std::vector<std::string> nodes{};               ///< the names of the kernels, and "copy"
  std::vector<std::function<void()>> launches{};  ///< how to launch each: of the emulation only

  void add(std::string_view name, std::function<void()> launch = {}) {
    nodes.emplace_back(name);
    launches.push_back(std::move(launch));
  }
};

/// What this thread records; null: kernels run at once.
inline thread_local Recording* recording = nullptr;

/// Throws RefusedError while this thread records: the allocators call it in what no graph can hold.
inline void refuse_in_recording(std::string_view what) {
  if (recording == nullptr) return;
  throw RefusedError(concat("a recorded graph cannot hold ", what,
                            ": it would happen once, when the graph is recorded, and not when the graph is "
                            "launched; do it before"));
}

}  // namespace tinymp::kernels
