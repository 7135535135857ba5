#pragma once

/// A place in the source of a kernel, for messages. (It replaces std::source_location, which clang 14 does
/// not have with libstdc++.)
namespace tinymp::kernels::emu::machine {

struct Where {
  const char* file = "";
  int line = 0;

  /// As a default argument it is the place of the call.
  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// A call and its place: __syncthreads() at tiled.cuh:31.
struct Call {
  const char* name = "";
  Where where;
};

}  // namespace tinymp::kernels::emu::machine
