#include <tinymp/dist/mpi/beats.h>
#include <algorithm>
#include <array>

namespace tinymp::dist {
namespace {

constexpr char runs = 'r', leaves = 'l';  // what a beat says

constexpr std::chrono::milliseconds between_beats{500}, between_looks{50};
/// MPI moves a message when it is called. While messages are under way that nothing waits for, the thread of the beats calls it
/// so often: without that an activation would lie until its rank has computed the next one.
constexpr std::chrono::microseconds between_moves{200};

/// The bytes of a message that has arrived.
std::optional<int> waiting(int from, int tag) {
  int there = 0, size = 0;
  MPI_Status status;
  MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return std::nullopt;
  MPI_Get_count(&status, MPI_BYTE, &size);
  return size;
}

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(concat(call, ": ", std::string(text.data(), static_cast<std::size_t>(length))));
}

Beats::Beats(const MpiOptions& options) : options_(options) {
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

Beats::~Beats() {
  ends_ = true;
  beating_.join();
  if (!lost_) MPI_Finalize();  // with a rank that is gone it would not end
}

void Beats::expect_all_here() {
  const std::lock_guard lock(mutex);
  if (lost_) throw LostRank(*lost_);
}

void Beats::fail(const std::string& message) {
  const std::lock_guard lock(mutex);
  if (!told_.empty() || ranks == 1) return;
  failure_ = message;
  if (!lost_) lost_.emplace(rank, message, true);
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

std::chrono::microseconds Beats::until_next_look() {
  if (ends_) return std::chrono::milliseconds(1);
  const Clock::time_point now = Clock::now();
  if (std::ranges::any_of(under_way_, [](const Moving* messages) { return !messages->is_awaited; }))
    looks_often_until_ = now + 2 * between_looks;  // where there are some, more follow
  return now < looks_often_until_ ? between_moves : between_looks;
}

void Beats::beat() {
  Clock::time_point next = Clock::now();
  std::unique_lock lock(mutex);
  while (true) {
    if (const Clock::time_point now = Clock::now(); !said_good_bye_ && (ends_ || now >= next)) {
      said_good_bye_ = ends_;
      tell_all(said_good_bye_ ? &leaves : &runs);
      next = now + between_beats;
    }
    listen();
    look_for_silence(Clock::now());
    if (lost_ ? ends_.load() : said_good_bye_ && all_have_left()) return;
    const std::chrono::microseconds pause = until_next_look();
    lock.unlock();
    std::this_thread::sleep_for(pause);
    lock.lock();
  }
}

/// `beat` lives as long as the program: nothing waits until it has gone.
void Beats::tell_all(const char* beat) {
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(beat, 1, MPI_BYTE, r, beat_tag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
}

void Beats::listen() {
  for (Moving* const messages : under_way_) messages->move();
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) continue;
    while (const std::optional<int> size = waiting(r, beat_tag)) {
      char byte = 0;
      MPI_Recv(&byte, *size, MPI_BYTE, r, beat_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      hear(r);
      if (byte == leaves) has_left_[static_cast<std::size_t>(r)] = true;
    }
    while (const std::optional<int> size = waiting(r, failure_tag)) {
      std::string message(static_cast<std::size_t>(*size), '\0');
      MPI_Recv(message.data(), *size, MPI_BYTE, r, failure_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!lost_) lost_.emplace(r, message, true);
    }
  }
}

void Beats::look_for_silence(Clock::time_point now) {
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

bool Beats::all_have_left() const {
  for (int r = 0; r < ranks; ++r)
    if (r != rank && !has_left_[static_cast<std::size_t>(r)]) return false;
  return true;
}

}  // namespace tinymp::dist
