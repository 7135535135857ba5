#include <fmt/format.h>
#include <lessons/15_many_processes/questions.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

// The order of a sum decides its last bits.
namespace tinymp::lab {
namespace {

using Gradient = std::vector<float>;

train::ModelMaker mlp(std::int64_t pixels) { return train::model_of<nn::Mlp>({pixels, 64, 10}); }

/// The gradients of so many micro-batches of 16 images.
std::vector<Gradient> gradients_of(Lab& lab, std::int64_t count) {
  data::Loader loader(lab.data().train, 16, lab.options().first_seed);
  Rng rng = Rng(lab.options().first_seed).split(0);
  std::unique_ptr<nn::Model> model;
  std::vector<Gradient> all;
  for (std::int64_t i = 0; i < count; ++i) {
    const data::Batch batch = loader.next();
    if (!model) model = mlp(batch.images.shape()[1])(recipes::fp32, rng);
    Tape tape;
    tape.backward(cross_entropy((*model)(batch.images), batch.labels));
    Gradient gradient;
    for (const nn::Parameter& p : model->parameters()) {
      const std::vector<float> part = p.value.grad().to_floats();
      gradient.insert(gradient.end(), part.begin(), part.end());
      p.value.clear_grad();
    }
    all.push_back(std::move(gradient));
  }
  return all;
}

/// How ranks may add up the gradients of their micro-batches.
enum class Order : std::uint8_t {
  of_micro_batches,  ///< one after another, whichever rank has them
  of_ranks,          ///< each rank adds up its own, then the ranks' sums are added, rank 0 first
  of_a_ring          ///< the same, and each of as many pieces of the gradient begins at another rank
};

float sum_of(const std::vector<Gradient>& all, std::size_t at, int ranks, Order order) {
  const std::size_t count = all.size(), own = count / static_cast<std::size_t>(ranks);
  if (order == Order::of_micro_batches) {
    float sum = 0;
    for (const Gradient& g : all) sum += g[at];
    return sum;
  }
  const auto piece = at * static_cast<std::size_t>(ranks) / all[0].size(),
             first = order == Order::of_a_ring ? piece : std::size_t{0};
  float sum = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
    const std::size_t rank = (first + r) % static_cast<std::size_t>(ranks);
    float of_rank = 0;
    for (std::size_t i = 0; i < own; ++i) of_rank += all[rank * own + i][at];
    sum += of_rank;
  }
  return sum;
}

/// A row of the table, and what it found: the share of sums with other bits than those of one process, by ranks.
std::vector<double> others(const std::vector<Gradient>& all, Order order) {
  std::vector<double> shares;
  for (const int ranks : {1, 2, 4, 8}) {
    std::size_t differ = 0;
    for (std::size_t at = 0; at < all[0].size(); ++at)
      differ += std::bit_cast<std::uint32_t>(sum_of(all, at, ranks, order)) !=
                std::bit_cast<std::uint32_t>(sum_of(all, at, 1, Order::of_micro_batches));
    shares.push_back(100 * static_cast<double>(differ) / static_cast<double>(all[0].size()));
  }
  return shares;
}

/// How far the sums of 4 ranks are from those in float64: the root of the mean square, in multiples of that of the sums.
double off(const std::vector<Gradient>& all, Order order) {
  double squares = 0, errors = 0;
  for (std::size_t at = 0; at < all[0].size(); ++at) {
    double exact = 0;
    for (const Gradient& g : all) exact += static_cast<double>(g[at]);
    const double error = static_cast<double>(sum_of(all, at, 4, order)) - exact;
    squares += exact * exact, errors += error * error;
  }
  return std::sqrt(errors / squares);
}

train::Plan plan_of(std::string name, std::uint64_t seed, const Lab& lab) {
  return {.question = same,
          .name = std::move(name),
          .recipe = recipes::fp16_dynamic,
          .seed = seed,
          .model = train::model_of<nn::Mlp>({784, 64, 10}),
          .optimizer = train::optimizer_of<Adam>({.lr = 0.003f}),
          .optimizer_name = "adam lr=0.003",
          .steps = lab.steps(300, 6),
          .batch = 16,
          .micro_batches = 4};
}

}  // namespace

void show_order(Lab& lab) {
  const std::vector<Gradient> all = gradients_of(lab, 8);
  struct Row {
    const char* name;
    Order order;
  };
  lab.say("\nThe gradients of 8 micro-batches, added in FP32: sums with other bits than one process has");
  lab.say("  ranks                             1       2       4       8   off by (4 ranks)");
  double most = 0;
  for (const Row& row : {Row{"in the order of micro-batches", Order::of_micro_batches},
                         Row{"own sums first, rank by rank", Order::of_ranks},
                         Row{"own sums first, around a ring", Order::of_a_ring}}) {
    const bool ours = row.order == Order::of_micro_batches;
    const Order order = ours && lab.sabotaged("order") ? Order::of_ranks : row.order;
    const std::vector<double> shares = others(all, order);
    if (ours) most = *std::ranges::max_element(shares);
    std::string line = fmt::format("  {:<29}", row.name);
    for (const double share : shares) line += fmt::format("{:>6.3g} %", share);
    lab.say(line + fmt::format("{:>13.2g}", off(all, order)));
  }
  lab.claim(most == 0,
            "sums in the order of micro-batches have the bits of one process, for 1, 2, 4 and 8 ranks",
            Lab::Judged::in_smoke_too);
}

void ask_same(Lab& lab) {
  bool alike = true;
  for (const std::uint64_t seed : lab.seeds()) {
    std::unique_ptr<nn::Model> alone;
    lab.train(plan_of("one process", seed, lab), &alone);
    for (const int ranks : {2, 4}) {
      Models models;
      train_on_ranks(lab, plan_of(fmt::format("{} ranks", ranks), seed, lab), ranks, &models);
      alike = alike && are_one(models) && bits_of(*models[0]) == bits_of(*alone);
    }
  }
  lab.verdict(same, alike ? "Yes: every bit of every weight." : "No: their weights differ.");
  lab.claim(alike, "2 and 4 ranks end with the weights of one process, bit for bit",
            Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
