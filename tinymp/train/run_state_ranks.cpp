#include <tinymp/dist/collectives.h>
#include <tinymp/train/rank_sum.h>
#include <tinymp/train/run_state.h>

// How the ranks of a run begin with the same state.
namespace tinymp::train {
namespace {

/// The first rank whose text is another than that of rank 0.
std::optional<std::size_t> other_than_first(const std::vector<std::string>& texts) {
  for (std::size_t r = 1; r < texts.size(); ++r)
    if (texts[r] != texts[0]) return r;
  return std::nullopt;
}

/// The training data themselves: two of one name and size may differ.
std::string mark_of_data(const Plan& plan) {
  if (plan.text) return concat(mark_of(std::as_bytes(std::span(plan.text->text->train))));
  const data::Dataset& train = plan.data->train;
  return concat(
      mark_of(std::as_bytes(std::span(train.labels)), mark_of(std::as_bytes(std::span(train.images)))));
}

}  // namespace

std::int64_t begin_alike(const Plan& plan, std::int64_t step, const nn::Model& model, Optimizer& optimizer,
                         LossScaler& scaler, const Float8Products& products, data::Loader& loader) {
  dist::Transport& ranks = *plan.ranks;
  const CheckpointOwner owner{plan, model, optimizer, products, optimizer.learning_rate()};
  const RunningParts running{model, optimizer, scaler, products, loader};
  const auto contents = [&] {
    return contents_of({.counts = {.taken = step}, .moment = moment_of(running, step)}, owner);
  };
  // What moves no bit decides, too, when the ranks meet.
  const std::string metadata =
      concat(contents().metadata.at("tinymp.plan"), ", zero ", plan.zero, ", pipeline ", plan.pipeline,
             ", saved every ", plan.pipeline ? plan.save_every : 0, ", compared every ", plan.compare_every);
  if (const auto r = other_than_first(dist::all_gather(ranks, metadata)))
    throw Error(concat("rank ", *r,
                       " trains by another plan than rank 0: a flag, or the version of tinymp, differs"));
  if (const auto r = other_than_first(dist::all_gather(ranks, mark_of_data(plan))))
    throw Error(concat("rank ", *r, " reads other data than rank 0, under the same name"));

  const std::string of_first = dist::broadcast(ranks, concat(step));
  if (of_first != "0") {  // a run that goes on: rank 0 alone has read the checkpoint
    const std::string bytes = dist::broadcast(ranks, ranks.rank() == 0 ? safetensors_bytes(contents()) : "");
    const std::string name = "the checkpoint that rank 0 has read";
    if (ranks.rank() > 0) {
      const Checkpoint from = checkpoint_from(parse_safetensors(bytes, name), name, owner);
      restore(from.moment, model, optimizer, scaler, products, loader);
    }
  }
  if (const auto r = other_than_first(dist::all_gather(ranks, weights_hash(model, optimizer))))
    throw Error(concat("rank ", *r, " begins with other weights than rank 0"));
  return std::stoll(of_first);
}

}  // namespace tinymp::train
