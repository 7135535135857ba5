#pragma once

#include <kernels/cuda/cuda.h>
#include <kernels/emu/memory.h>
#include <kernels/emu/options.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

/// Small tools for tests of emulated kernels.
namespace tinymp::test {

using namespace tinymp::kernels::emu;  // the words of CUDA
using machine::Options;
using machine::ThreadOrder;

inline const std::vector<Options>& all_orders() {
  static const std::vector<Options> orders{{.order = ThreadOrder::forward},
                                           {.order = ThreadOrder::reverse},
                                           {.order = ThreadOrder::shuffled, .seed = 1},
                                           {.order = ThreadOrder::shuffled, .seed = 2}};
  return orders;
}

/// For the length of a block of text.
class WithOrder {
 public:
  explicit WithOrder(const Options& options) { machine::set_options(options); }
  ~WithOrder() { machine::set_options(before_); }
  WithOrder(const WithOrder&) = delete;

 private:
  Options before_ = machine::options();
};

inline std::string name_of(const Options& options) {
  if (options.order == ThreadOrder::shuffled) return "shuffled:" + std::to_string(options.seed);
  return options.order == ThreadOrder::forward ? "forward" : "reverse";
}

/// An array on the emulated GPU.
template <class T>
class Array {
 public:
  explicit Array(std::size_t size)
      : size_(size), data_(static_cast<T*>(device_memory().allocate(size * sizeof(T)))) {}
  Array(std::initializer_list<T> values) : Array(std::vector<T>(values)) {}
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    std::copy(values.begin(), values.end(), data_);
  }
  ~Array() { device_memory().release(data_, size_ * sizeof(T)); }
  Array(const Array&) = delete;

  T* data() const { return data_; }
  std::vector<T> values() const { return {data_, data_ + size_}; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  T* data_;
};

/// 0, 1, ..., n - 1
template <class T>
std::vector<T> numbers(int n) {
  std::vector<T> x;
  for (int i = 0; i < n; ++i) x.push_back(static_cast<T>(i));
  return x;
}

}  // namespace tinymp::test
