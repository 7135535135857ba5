#include <mpi.h>
#include <tinymp/dist/mpi.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

// The one file that calls MPI. Nothing here waits inside of MPI: a process that hangs there could not tell which rank it
// waits for. All calls begin something or ask whether it is over, and one mutex lets one thread at a time in, as
// MPI_THREAD_SERIALIZED wants it.
namespace tinymp::dist {
namespace {

using Clock = std::chrono::steady_clock;

enum Tag : int { data_tag = 1, beat_tag = 2, failure_tag = 3 };
constexpr char runs = 'r', leaves = 'l';  // what a beat says

constexpr std::size_t largest_message = std::size_t{1} << 30;  // MPI counts bytes in an int
constexpr std::chrono::milliseconds between_beats{500};
/// MPI moves a message when it is called. While messages are under way that nothing waits for, the thread of the beats calls it
/// so often: without that an activation would lie until its rank has computed the next one.
constexpr std::chrono::microseconds between_moves{200};
constexpr std::chrono::milliseconds between_looks{50};

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(concat(call, ": ", std::string(text.data(), static_cast<std::size_t>(length))));
}

/// What the thread of the beats and that of the program share.
class Ranks {
 public:
  explicit Ranks(const MpiOptions& options) : options_(options) {
    int granted = MPI_THREAD_SINGLE;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &granted), "MPI_Init_thread");
    if (granted < MPI_THREAD_SERIALIZED)
      throw MissingError("this MPI serves one thread alone; tinymp needs MPI_THREAD_SERIALIZED");
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    heard_.assign(static_cast<std::size_t>(ranks), Clock::now());
    has_left_.assign(static_cast<std::size_t>(ranks), false);
    beating_ = std::thread([this] { beat(); });
  }

  ~Ranks() {
    ends_ = true;
    beating_.join();
    if (!lost_) MPI_Finalize();  // with a rank that is gone it would not end
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// Throws LostRank when one is lost.
  void expect_all_here() {
    const std::lock_guard lock(mutex);
    if (lost_) throw LostRank(*lost_);
  }

  /// Tells all others once; the first failure of a rank is the one that counts.
  void fail(const std::string& message) {
    const std::lock_guard lock(mutex);
    if (!told_.empty() || ranks == 1) return;
    failure_ = message;
    if (!lost_) lost_.emplace(rank, message);
    for (int r = 0; r < ranks; ++r) {
      if (r == rank) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(failure_.data(), static_cast<int>(failure_.size()), MPI_BYTE, r, failure_tag, MPI_COMM_WORLD,
                &request);
      told_.push_back(request);
    }
    // MPI moves messages when it is called. Some calls are enough; a rank that is gone takes none.
    for (int i = 0; i < 100; ++i) {
      int all = 0;
      MPI_Testall(static_cast<int>(told_.size()), told_.data(), &all, MPI_STATUSES_IGNORE);
      if (all != 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// With the mutex held: so many more exchanges are under way that nothing waits for.
  void leave_alone(int more) {
    unattended_ += more;
    if (unattended_ == 1 && more == 1) moves_.notify_one();
  }

  std::mutex mutex;
  int rank = 0, ranks = 1;

 private:
  void beat() {
    Clock::time_point next = Clock::now();
    std::unique_lock lock(mutex);
    while (true) {
      const Clock::time_point now = Clock::now();
      if (!said_good_bye_ && (ends_ || now >= next)) {
        said_good_bye_ = ends_;
        tell_all(said_good_bye_ ? &leaves : &runs);
        next = now + between_beats;
      }
      listen();
      look_for_silence(now);
      if (lost_ ? ends_.load() : said_good_bye_ && all_have_left()) return;
      if (ends_)
        moves_.wait_for(lock, std::chrono::milliseconds(1));
      else if (unattended_ > 0)
        moves_.wait_for(lock, between_moves);
      else
        moves_.wait_for(lock, between_looks);
    }
  }

  /// `beat` lives as long as the program: nothing waits until it has gone.
  void tell_all(const char* beat) {
    for (int r = 0; r < ranks; ++r) {
      if (r == rank) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(beat, 1, MPI_BYTE, r, beat_tag, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
    }
  }

  void listen() {
    for (int r = 0; r < ranks; ++r) {
      if (r == rank) continue;
      while (const std::optional<int> size = waiting(r, beat_tag)) {
        char byte = 0;
        MPI_Recv(&byte, *size, MPI_BYTE, r, beat_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        heard_[static_cast<std::size_t>(r)] = Clock::now();
        if (byte == leaves) has_left_[static_cast<std::size_t>(r)] = true;
      }
      while (const std::optional<int> size = waiting(r, failure_tag)) {
        std::string message(static_cast<std::size_t>(*size), '\0');
        MPI_Recv(message.data(), *size, MPI_BYTE, r, failure_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!lost_) lost_.emplace(r, message);
      }
    }
  }

  /// The bytes of a message that has arrived.
  static std::optional<int> waiting(int from, int tag) {
    int there = 0, size = 0;
    MPI_Status status;
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return std::nullopt;
    MPI_Get_count(&status, MPI_BYTE, &size);
    return size;
  }

  void look_for_silence(Clock::time_point now) {
    // After a sleep of its own (Ctrl-Z, a laptop's lid) a process has heard nothing of anybody: that says nothing of them.
    const bool slept = now - looked_ > options_.silence / 2;
    looked_ = now;
    if (slept) std::ranges::fill(heard_, now);
    for (int r = 0; r < ranks; ++r) {
      const auto at = static_cast<std::size_t>(r);
      if (r == rank || has_left_[at] || lost_ || now - heard_[at] < options_.silence) continue;
      lost_.emplace(r, concat("rank ", r, " of ", ranks, " has not answered for ",
                              std::chrono::duration_cast<std::chrono::seconds>(options_.silence).count(),
                              " s: it has ended, or it hangs"));
    }
  }

  bool all_have_left() const {
    for (int r = 0; r < ranks; ++r)
      if (r != rank && !has_left_[static_cast<std::size_t>(r)]) return false;
    return true;
  }

  MpiOptions options_;
  std::vector<Clock::time_point> heard_;
  Clock::time_point looked_ = Clock::now();
  std::vector<bool> has_left_;
  std::vector<MPI_Request> told_;
  std::optional<LostRank> lost_{};
  std::string failure_{};  ///< what told_ sends
  std::condition_variable moves_;
  int unattended_ = 0;
  std::atomic<bool> ends_ = false;
  bool said_good_bye_ = false;
  std::thread beating_;
};

class MpiExchange final : public Exchange {
 public:
  enum class Then : std::uint8_t { waits, computes };  ///< what its rank does next

  MpiExchange(Ranks& all, const Outgoing& out, const Incoming& in, Then then)
      : all_(all), is_alone_(then == Then::computes) {
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
    if (is_alone_) all.leave_alone(1);
  }

  ~MpiExchange() override {
    const std::lock_guard lock(all_.mutex);  // after an error: what has not come must not come any more
    attend();
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      if (i < receives_.size()) MPI_Cancel(&requests_[i]);
      MPI_Request_free(&requests_[i]);
    }
  }

  void wait() override {
    std::vector<MPI_Status> statuses(requests_.size());
    {
      const std::lock_guard lock(all_.mutex);
      attend();
    }
    for (int polls = 0;; ++polls) {
      int all = 0, code = MPI_SUCCESS;
      if (!requests_.empty()) {
        const std::lock_guard lock(all_.mutex);
        code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, statuses.data());
      } else {
        all = 1;
      }
      if (code == MPI_SUCCESS && all != 0) break;
      all_.expect_all_here();
      if (code != MPI_SUCCESS) throw_of(statuses);
      // Others may need this core: ranks share it when there are more of them than cores.
      if (polls < 20)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    expect_sizes(statuses);
  }

 private:
  struct Received {
    int from, size;
  };

  void attend() {
    if (std::exchange(is_alone_, false)) all_.leave_alone(-1);
  }

  MPI_Request* next() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  template <class Each>
  static void for_pieces(std::size_t size, Each each) {
    for (std::size_t at = 0; at < size; at += largest_message)
      each(at, static_cast<int>(std::min(largest_message, size - at)));
  }

  void expect_sizes(const std::vector<MPI_Status>& statuses) const {
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      int size = 0;
      MPI_Get_count(&statuses[i], MPI_BYTE, &size);
      expect(size == receives_[i].size, "rank ", receives_[i].from, " sent ", size, " bytes to rank ",
             all_.rank, ", which expects ", receives_[i].size, "; do all ranks run the same command?");
    }
  }

  /// MPI could not take a message that is larger than its place, or has lost the connection.
  [[noreturn]] void throw_of(const std::vector<MPI_Status>& statuses) const {
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      if (statuses[i].MPI_ERROR == MPI_SUCCESS || statuses[i].MPI_ERROR == MPI_ERR_PENDING) continue;
      throw LostRank(receives_[i].from, concat("rank ", receives_[i].from, " sent something else than rank ",
                                               all_.rank, " expects, or the connection is gone"));
    }
    throw Error("MPI_Testall failed");
  }

  Ranks& all_;
  bool is_alone_;  ///< nothing waits for it yet
  std::vector<MPI_Request> requests_;
  std::vector<Received> receives_;  ///< the first of the requests
};

class Mpi final : public Transport {
 public:
  explicit Mpi(const MpiOptions& options) : all_(options) {}

  int rank() const override { return all_.rank; }
  int ranks() const override { return all_.ranks; }
  std::unique_ptr<Exchange> begin(const Outgoing& out, const Incoming& in) override {
    return std::make_unique<MpiExchange>(all_, out, in, MpiExchange::Then::computes);
  }
  void exchange(const Outgoing& out, const Incoming& in) override {
    MpiExchange(all_, out, in, MpiExchange::Then::waits).wait();
  }
  void fail(const std::string& message) override { all_.fail(message); }

 private:
  Ranks all_;
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
