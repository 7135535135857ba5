#include <lessons/15_many_processes/exercises/2_agree/found.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/optim/shards.h>

namespace tinymp::exercise {
namespace {

/// The other processes: they have made up their minds already.
class Others final : public Shards {
 public:
  explicit Others(const Counts& found) : Shards(4096, 4, 1), found_(found) {}

  void sum(std::span<std::int64_t> counts) const override {
    ++calls;
    length = std::ssize(counts);
    // In whatever order they are given: each process gives them in the same.
    for (std::int64_t& count : counts) {
      if (count == own.values)
        count += found_.values;
      else if (count == own.nonfinite)
        count += found_.nonfinite;
      else if (count == own.zeros)
        count += found_.zeros;
      else if (count == own.subnormals)
        count += found_.subnormals;
    }
  }
  void all_gather(const View&, const std::vector<Range>&) const override {}
  Tensor collect(const Tensor& own) const override { return own; }
  void begin_collecting() const override {}

  Counts own{};
  mutable std::int64_t calls = 0, length = 0;

 private:
  Counts found_;
};

}  // namespace

void serve(Message& request, Message& reply) {
  serve_each<Question>(request, reply, [](const Question& q) {
    Others others(q.others);
    others.own = q.own;
    kernels::GradientCounts found{q.own.values, q.own.nonfinite, q.own.zeros, q.own.subnormals};
    agree(others, found);
    return Answer{
        {found.values, found.nonfinite, found.zeros, found.subnormals}, others.calls, others.length};
  });
}

}  // namespace tinymp::exercise
