#include <lessons/15_many_processes/exercises/2_agree/found.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/optim/shards.h>
#include <algorithm>
#include <array>
#include <vector>

namespace tinymp::exercise {
namespace {

/// The other processes: they have made up their minds already.
class Others final : public Shards {
 public:
  explicit Others(const Counts& found) : Shards(4096, 4, 1), found_(found) {}

  void sum(std::span<std::int64_t> counts) const override {
    ++calls;
    length = std::ssize(counts);
    if (places.empty()) {
      for (const std::int64_t count : counts) places.push_back(number_of(own, count));
    } else if (places.size() == counts.size()) {
      for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i] >= 0) counts[i] += in_order(found_)[static_cast<std::size_t>(places[i])];
    }
  }
  void all_gather(const View&, const std::vector<Range>&) const override {}
  Tensor collect(const Tensor& own) const override { return own; }
  void begin_collecting() const override {}

  Counts own{};
  /// Which of the four numbers lies where, in whatever order: each process gives them in the same, in each step. Where this
  /// is empty, the next call tells.
  mutable std::vector<int> places{};
  mutable std::int64_t calls = 0, length = 0;

 private:
  static std::array<std::int64_t, 4> in_order(const Counts& c) {
    return {c.values, c.nonfinite, c.zeros, c.subnormals};
  }
  static int number_of(const Counts& among, std::int64_t count) {
    const std::array<std::int64_t, 4> all = in_order(among);
    const auto found = std::ranges::find(all, count);
    return found == all.end() ? -1 : static_cast<int>(found - all.begin());
  }
  Counts found_;
};

}  // namespace

void serve(Message& request, Message& reply) {
  // A first step, whose four numbers are all different, tells which of them lies where.
  Others first{Counts{}};
  first.own = {.values = 1 << 20, .nonfinite = 3, .zeros = 1 << 10, .subnormals = 1 << 12};
  kernels::GradientCounts of_first{first.own.values, first.own.nonfinite, first.own.zeros,
                                   first.own.subnormals};
  agree(first, of_first);

  serve_each<Question>(request, reply, [&](const Question& q) {
    Others others(q.others);
    others.own = q.own;
    others.places = first.places;
    kernels::GradientCounts found{q.own.values, q.own.nonfinite, q.own.zeros, q.own.subnormals};
    agree(others, found);
    return Answer{
        {found.values, found.nonfinite, found.zeros, found.subnormals}, others.calls, others.length};
  });
}

}  // namespace tinymp::exercise
