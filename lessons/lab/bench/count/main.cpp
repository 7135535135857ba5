#include <kernels/cuda/gemm/ladder.h>
#include <kernels/emu/accesses.h>
#include <kernels/emu/memory.h>
#include <tinymp/base/error.h>
#include <tinymp/base/parallel_for.h>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

// usage: count_gemm M N K f16|bf16|f32 f32|f16 none|a|b|both [RUNG]. One product on each rung that takes it, on the emulated
// GPU; a line for each: name, requests, sectors, bytes, shared accesses, conflicts. ./learn bench gemm --count starts it.
//
// The rungs are compiled with -fsanitize=thread, which puts a call before each load and store. ThreadSanitizer itself is not
// linked: callbacks.cpp takes its place.

extern "C" char __data_start, _end;  // of the linker: static variables lie between them

namespace tinymp::kernels {
namespace {

using emu::machine::AccessCounts;
using emu::machine::AddressRange;

std::uintptr_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

struct Matrix {
  std::size_t bytes;
  void* memory;

  explicit Matrix(std::size_t size) : bytes(size), memory(emu::device_memory().allocate(size)) {
    std::memset(memory, 0, size);
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { emu::device_memory().release(memory, bytes); }
  AddressRange range() const { return {address_of(memory), address_of(memory) + bytes}; }
};

AccessCounts count(Rung rung, GemmProblem problem) {
  const auto size = [&](int rows, int cols) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) *
           (problem.format == Format::f32 ? 4 : 2);
  };
  const Matrix a(size(problem.M, problem.K)), b(size(problem.K, problem.N)), c(size(problem.M, problem.N));
  problem.a = a.memory, problem.b = b.memory, problem.c = c.memory;
  if (rung_for(rung, problem, emu::architecture()) != rung) throw Error("it does not take these sizes");
  emu::machine::count_accesses({a.range(), b.range(), c.range()},
                               {address_of(&__data_start), address_of(&_end)});
  emu::gemm(rung, problem, nullptr);
  return emu::machine::counted_accesses();
}

int run(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  expect(words.size() >= 6,
         "count_gemm: sizes and formats are missing; ./learn bench gemm --count gives them");
  const auto transposed = [&](const char* which) {
    return words[5] == which || words[5] == "both" ? Trans::yes : Trans::no;
  };
  GemmProblem problem{.M = std::stoi(words[0]), .N = std::stoi(words[1]), .K = std::stoi(words[2])};
  problem.ta = transposed("a"), problem.tb = transposed("b");
  problem.lda = problem.ta == Trans::no ? problem.K : problem.M;
  problem.ldb = problem.tb == Trans::no ? problem.N : problem.K;
  problem.ldc = problem.N;
  problem.format = words[3] == "f32" ? Format::f32 : words[3] == "f16" ? Format::f16 : Format::bf16;
  problem.sums = words[4] == "f32" ? Sums::f32 : Sums::f16;
  set_threads(1);  // the counter is no rung's
  for (std::size_t i = 0; i < ladder.size(); ++i) {
    if (words.size() > 6 && words[6] != ladder[i].name) continue;
    try {
      const AccessCounts counts = count(static_cast<Rung>(i), problem);
      std::printf(
          "%s %llu %llu %llu %llu %llu\n", ladder[i].name.data(),
          static_cast<unsigned long long>(counts.requests), static_cast<unsigned long long>(counts.sectors),
          static_cast<unsigned long long>(counts.bytes), static_cast<unsigned long long>(counts.shared),
          static_cast<unsigned long long>(counts.conflicts));
    } catch (const Error& error) {
      std::fprintf(stderr, "%s is left out: %s\n", ladder[i].name.data(), error.what());
    }
  }
  return 0;
}

}  // namespace
}  // namespace tinymp::kernels

int main(int argc, char** argv) {
  try {
    return tinymp::kernels::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
