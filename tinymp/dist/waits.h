#pragma once

#include <tinymp/dist/transport.h>
#include <chrono>

/// How long a rank waits for others.
namespace tinymp::dist {

/// Ranks as another transport has them. It adds up the time that wait() takes.
class WatchedRanks final : public Transport {
 public:
  explicit WatchedRanks(Transport& ranks) : ranks_(ranks) {}  ///< it must outlive this

  int rank() const override { return ranks_.rank(); }
  int ranks() const override { return ranks_.ranks(); }
  std::unique_ptr<Exchange> begin(const Outgoing& out, const Incoming& in) override {
    return std::make_unique<Watched>(ranks_.begin(out, in), waited_);
  }
  void exchange(const Outgoing& out, const Incoming& in) override {
    const Added time(waited_);
    ranks_.exchange(out, in);
  }
  void fail(const std::string& message) override { ranks_.fail(message); }

  double waited() const { return waited_; }  ///< in seconds, so far

 private:
  /// Adds the seconds that it lives.
  class Added {
   public:
    explicit Added(double& seconds) : seconds_(seconds) {}
    ~Added() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
    Added(const Added&) = delete;
    Added& operator=(const Added&) = delete;

   private:
    double& seconds_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

  class Watched final : public Exchange {
   public:
    Watched(std::unique_ptr<Exchange> exchange, double& waited)
        : exchange_(std::move(exchange)), waited_(waited) {}
    void wait() override {
      const Added time(waited_);
      exchange_->wait();
    }

   private:
    std::unique_ptr<Exchange> exchange_;
    double& waited_;
  };

  Transport& ranks_;
  double waited_ = 0;
};

}  // namespace tinymp::dist
