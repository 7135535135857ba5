#include <tinymp/dist/mpi/beats.h>
#include <algorithm>
#include <cstdlib>
#include <exception>

namespace tinymp::dist {
namespace {

/// A message travels in pieces, and each that arrives tells that its rank is there: on a slow link beats stand in line behind
/// megabytes. Most MPIs send pieces of this size one after another. The last piece is shorter than the others, and may be
/// empty: so a message of another length than expected shows.
constexpr std::size_t piece = std::size_t{32} << 10;

class MpiExchange final : public Exchange, private Moving {
 public:
  MpiExchange(Beats& all, const Outgoing& out, const Incoming& in) : all_(all) {
    const std::lock_guard lock(all.mutex);
    for (int r = 0; r < all.ranks; ++r) {
      if (r == all.rank) continue;
      const std::span<std::byte> place = in.at(static_cast<std::size_t>(r));
      for_pieces(place.size(), [&](std::size_t at, int size) {
        receives_.push_back({r, size});
        check(MPI_Irecv(place.data() + at, size, MPI_BYTE, r, data_tag, MPI_COMM_WORLD, next()), "MPI_Irecv");
      });
    }
    for (int r = 0; r < all.ranks; ++r) {
      if (r == all.rank) continue;
      const std::span<const std::byte> bytes = out.at(static_cast<std::size_t>(r));
      for_pieces(bytes.size(), [&](std::size_t at, int size) {
        check(MPI_Isend(bytes.data() + at, size, MPI_BYTE, r, data_tag, MPI_COMM_WORLD, next()), "MPI_Isend");
      });
    }
    left_ = requests_.size();
    all.add(*this);
  }

  ~MpiExchange() override {
    const std::lock_guard lock(all_.mutex);  // after an error: what has not come must not come any more
    all_.remove(*this);
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      if (i < receives_.size()) MPI_Cancel(&requests_[i]);
      MPI_Request_free(&requests_[i]);
    }
  }

  void wait() override {
    for (int polls = 0;; ++polls) {
      {
        const std::lock_guard lock(all_.mutex);
        is_awaited = true;
        move();
        if (fault_) std::rethrow_exception(fault_);
        if (left_ == 0) return;
      }
      all_.expect_all_here();
      // Others may need this core: ranks share it when there are more of them than cores.
      if (polls < 20)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  struct Received {
    int from, size;
  };

  void move() override {
    if (left_ == 0 || fault_) return;
    int count = 0;
    done_.resize(requests_.size());
    statuses_.resize(requests_.size());
    const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(),
                                  statuses_.data());
    if (count == MPI_UNDEFINED) count = 0;
    left_ -= static_cast<std::size_t>(count);
    try {
      for (int i = 0; i < count; ++i) look_at(done_[static_cast<std::size_t>(i)], i, code);
      if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) check(code, "MPI_Testsome");
    } catch (...) {
      fault_ = std::current_exception();
    }
  }

  MPI_Request* next() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  template <class Each>
  static void for_pieces(std::size_t size, Each each) {
    if (size == 0) return;  // no message
    for (std::size_t at = 0; at <= size; at += piece) each(at, static_cast<int>(std::min(piece, size - at)));
  }

  /// The piece of request `request`, whose status is number i.
  void look_at(int request, int i, int code) {
    const auto at = static_cast<std::size_t>(request);
    if (at >= receives_.size()) return;
    const Received& expected = receives_[at];
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    // MPI could not take a piece that is larger than its place, or has lost the connection.
    if (code == MPI_ERR_IN_STATUS && status.MPI_ERROR != MPI_SUCCESS)
      throw LostRank(expected.from, concat("rank ", expected.from, " sent something else than rank ",
                                           all_.rank, " expects, or the connection is gone"));
    all_.hear(expected.from);
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    expect(size == expected.size, "rank ", expected.from, " sent ", size, " bytes to rank ", all_.rank,
           ", which expects ", expected.size, "; do all ranks run the same command?");
  }

  Beats& all_;
  std::vector<MPI_Request> requests_;
  std::vector<Received> receives_;  ///< the first of the requests
  std::size_t left_ = 0;            ///< requests that are not over
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
  std::exception_ptr fault_{};
};

class Mpi final : public Transport {
 public:
  explicit Mpi(const MpiOptions& options) : all_(options) {}

  int rank() const override { return all_.rank; }
  int ranks() const override { return all_.ranks; }
  std::unique_ptr<Exchange> begin(const Outgoing& out, const Incoming& in) override {
    return std::make_unique<MpiExchange>(all_, out, in);
  }
  void fail(const std::string& message) override { all_.fail(message); }

 private:
  Beats all_;
};

}  // namespace

bool has_mpi() { return true; }

std::unique_ptr<Transport> join_mpi(const MpiOptions& options) { return std::make_unique<Mpi>(options); }

void end_all(int exit_code) {
  // MPI_Abort waits for an mpirun on the other side of a link that is cut.
  std::thread([exit_code] {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    std::_Exit(exit_code);
  }).detach();
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace tinymp::dist
