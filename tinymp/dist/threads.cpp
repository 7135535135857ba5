#include <tinymp/dist/threads.h>
#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

namespace tinymp::dist {

/// Messages that were sent and not yet taken.
struct ThreadRanks::Shared {
  Shared(int count, std::chrono::milliseconds longest)
      : ranks(count),
        patience(longest),
        boxes(static_cast<std::size_t>(count) * static_cast<std::size_t>(count)) {}

  /// Those from one rank to another by their number. The n-th that is asked for is the n-th that is sent, in whatever order
  /// they are waited for.
  struct Box {
    std::map<std::uint64_t, std::vector<std::byte>> messages{};
    std::uint64_t sent = 0, asked = 0;
  };
  Box& box(int from, int to) {
    return boxes[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) +
                 static_cast<std::size_t>(to)];
  }

  const int ranks;
  const std::chrono::milliseconds patience;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Box> boxes;
  std::optional<LostRank> failed{};
};

class ThreadRanks::One final : public Transport {
 public:
  One(Shared& shared, int rank) : shared_(shared), rank_(rank) {}

  int rank() const override { return rank_; }
  int ranks() const override { return shared_.ranks; }

  std::unique_ptr<Exchange> begin(const Outgoing& out, const Incoming& in) override {
    const std::lock_guard lock(shared_.mutex);
    for (int r = 0; r < shared_.ranks; ++r) {
      const std::span<const std::byte> bytes = out.at(static_cast<std::size_t>(r));
      if (r == rank_ || bytes.empty()) continue;
      Shared::Box& box = shared_.box(rank_, r);
      box.messages.emplace(box.sent++, std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    shared_.changed.notify_all();
    return std::make_unique<Receipt>(shared_, rank_, in);
  }

  void fail(const std::string& message) override {
    const std::lock_guard lock(shared_.mutex);
    if (!shared_.failed) shared_.failed.emplace(rank_, message, true);
    shared_.changed.notify_all();
  }

 private:
  class Receipt final : public Exchange {
   public:
    Receipt(Shared& shared, int rank, Incoming in)
        : shared_(shared), rank_(rank), in_(std::move(in)), numbers_(in_.size()) {
      for (int r = 0; r < shared.ranks; ++r)
        if (const auto at = static_cast<std::size_t>(r); r != rank && !in_.at(at).empty())
          numbers_[at] = shared.box(r, rank).asked++;
    }

    void wait() override {
      std::unique_lock lock(shared_.mutex);
      for (int r = 0; r < shared_.ranks; ++r) {
        const std::span<std::byte> place = in_.at(static_cast<std::size_t>(r));
        if (r != rank_ && !place.empty()) take(lock, r, place);
      }
    }

   private:
    void take(std::unique_lock<std::mutex>& lock, int from, std::span<std::byte> place) {
      auto& messages = shared_.box(from, rank_).messages;
      const std::uint64_t number = numbers_[static_cast<std::size_t>(from)];
      const bool came = shared_.changed.wait_for(lock, shared_.patience,
                                                 [&] { return messages.contains(number) || shared_.failed; });
      if (!messages.contains(number) && shared_.failed) throw LostRank(*shared_.failed);
      if (!came) throw LostRank(from, concat("rank ", from, " does not answer: it has ended, or it hangs"));
      const std::vector<std::byte> bytes = std::move(messages.extract(number).mapped());
      expect(bytes.size() == place.size(), "rank ", from, " sent ", bytes.size(), " bytes to rank ", rank_,
             ", which expects ", place.size(), "; do all ranks run the same command?");
      std::ranges::copy(bytes, place.begin());
    }

    Shared& shared_;
    int rank_;
    Incoming in_;
    std::vector<std::uint64_t> numbers_;
  };

  Shared& shared_;
  int rank_;
};

ThreadRanks::ThreadRanks(int ranks, std::chrono::milliseconds patience) {
  expect(ranks >= 1, "ThreadRanks: ", ranks, " ranks; there must be one at least");
  shared_ = std::make_unique<Shared>(ranks, patience);
  for (int r = 0; r < ranks; ++r) all_.push_back(std::make_unique<One>(*shared_, r));
}

ThreadRanks::~ThreadRanks() = default;

Transport& ThreadRanks::at(int rank) const { return *all_.at(static_cast<std::size_t>(rank)); }

}  // namespace tinymp::dist
