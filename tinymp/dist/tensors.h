#pragma once

#include <tinymp/dist/transport.h>
#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

/// Tensors that go from one rank to another. They lie on the CPU.
namespace tinymp::dist {

/// A tensor on its way to this rank.
class Coming {
 public:
  Coming() = default;
  Coming(Tensor place, std::unique_ptr<Exchange> exchange)
      : place_(std::move(place)), exchange_(std::move(exchange)) {}
  Tensor take() const {  ///< waits for it, once
    exchange_->wait();
    return place_;
  }

 private:
  Tensor place_;
  std::unique_ptr<Exchange> exchange_;
};

/// Both sides call send() and ask() in the same order for each pair of ranks.
class TensorLinks {
 public:
  explicit TensorLinks(Transport& ranks) : ranks_(ranks) {}  ///< it must outlive this

  /// Sends a matrix. `kind` tells apart what goes between two ranks; all matrices of a kind have one format and one number of
  /// columns, which the first one tells. Does not wait; x is kept until settle().
  void send(int to, int kind, const Tensor& x);
  /// Begins to receive a matrix of so many rows. Waits for the first of its kind alone.
  Coming ask(int from, int kind, std::int64_t rows);
  /// Returns when all that was sent has gone.
  void settle();

 private:
  struct Columns {
    std::int64_t count = 0, format = 0;
  };
  std::unique_ptr<Exchange> begin(int with, std::span<const std::byte> out, std::span<std::byte> in);

  Transport& ranks_;
  std::map<std::pair<int, int>, Columns> sent_, received_;  ///< by rank and kind
  std::vector<std::pair<Tensor, std::unique_ptr<Exchange>>> going_;
};

}  // namespace tinymp::dist
