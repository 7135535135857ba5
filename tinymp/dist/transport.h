#pragma once

#include <tinymp/base/error.h>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Processes that train one model together. Each has a rank, 0 to ranks() - 1. The interface is small, so that each
/// implementation is: threads of one process (threads.h), MPI (mpi.h). collectives.h has what ranks do with it.
namespace tinymp::dist {

/// Another rank does not answer, or has told that it failed.
struct LostRank : Error {
  LostRank(int lost, const std::string& message, bool told = false)
      : Error(message), rank(lost), has_told(told) {}
  int rank;       ///< which one
  bool has_told;  ///< by Transport::fail(): it knows its fault, and can tell the user
};

/// What goes to each rank, by rank; empty: nothing. The entry of the own rank is not looked at, here and below.
using Outgoing = std::vector<std::span<const std::byte>>;
/// Where that of each rank is to lie.
using Incoming = std::vector<std::span<std::byte>>;

/// Messages on their way. The memory that they come from and go to must live until wait() returns.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Returns when all have arrived and all memory may be used again. Throws LostRank when a rank has ended, hangs or has
  /// failed, and Error when it sent another number of bytes than it was expected to send.
  virtual void wait() = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  /// Sends out[r] to rank r, and receives in[r] from it. Does not wait. Messages between two ranks arrive in the order of
  /// these calls: both name each of them, in the same order.
  virtual std::unique_ptr<Exchange> begin(const Outgoing& out, const Incoming& in) = 0;
  /// The same, and waits at once.
  virtual void exchange(const Outgoing& out, const Incoming& in) { begin(out, in)->wait(); }

  /// For a rank that cannot go on: the others throw LostRank with this message from their next wait.
  virtual void fail(const std::string& message) = 0;
};

}  // namespace tinymp::dist
