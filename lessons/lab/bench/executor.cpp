#include <kernels/cuda/executor.h>
#include <kernels/emu/chip.h>
#include <kernels/emu/memory.h>
#include <lessons/lab/bench/executor.h>
#include <tinymp/base/error.h>
#include <chrono>
#include <cstring>

namespace tinymp::kernels::bench {
namespace {

class NoLibrary : public YardstickLibrary {
 public:
  std::string why_not() const override { return "it runs on a GPU only"; }
  std::string version() const override { return ""; }
  void gemm(const GemmProblem&) override { throw Error(why_not()); }
};

class Emulated : public Executor {
 public:
  Machine machine() const override {
    const emu::machine::Chip chip = emu::machine::chip();
    return {.name = concat("emulated ", chip ? name_of(*chip) : "GPU"),
            .emulated = true,
            .architecture = emu::machine::architecture_of(chip)};
  }
  void* allocate(std::size_t bytes) override { return emu::device_memory().allocate(bytes); }
  void release(void* memory) noexcept override { emu::device_memory().release(memory, 0); }
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* to, int byte, std::size_t bytes) override { std::memset(to, byte, bytes); }
  Rung gemm(Rung wanted, const GemmProblem& problem) override { return emu::gemm(wanted, problem, nullptr); }
  void tiles(const TileBatch& tiles) override { emu::tensor_tiles(tiles, nullptr); }
  YardstickLibrary& library(Yardstick) override { return none_; }
  double milliseconds(const std::function<void()>& work) override {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  NoLibrary none_;
};

}  // namespace

std::unique_ptr<Executor> emulated_executor() { return std::make_unique<Emulated>(); }

std::unique_ptr<Executor> executor() {
  return kernels::emulation_wanted() ? emulated_executor() : real_executor();
}

}  // namespace tinymp::kernels::bench
