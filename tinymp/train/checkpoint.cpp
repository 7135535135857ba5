#include <tinymp/train/checkpoint_json.h>
#include <tinymp/train/checkpoint_tensors.h>
#include <algorithm>

namespace tinymp::train {
namespace {

using Json = nlohmann::json;

/// The other policies count no steps, and checkpoints of them hold no count.
bool counts_steps(const CheckpointOwner& owner) {
  return std::holds_alternative<EnhancedScaling>(owner.plan.recipe.scaling);
}

Json moment_json(const Moment& moment, const CheckpointOwner& owner) {
  const data::Loader::Position place = moment.loader.position();
  Json json = {{"step", moment.step},
               {"optimizer_steps", moment.optimizer.steps},
               {"learning_rate", json_number(static_cast<double>(moment.optimizer.learning_rate))},
               {"scale", json_number(static_cast<double>(moment.scaler.scale))},
               {"growth_tracker", moment.scaler.growth_tracker},
               {"bad", moment.scaler.bad},
               {"epoch", place.epoch},
               {"drawn", place.drawn}};
  if (counts_steps(owner)) json["scaled_steps"] = moment.scaler.steps;
  return json;
}

/// The numbers of a moment; take_tensors() adds its tensors.
Moment moment_from(const MetadataReader& json, const CheckpointOwner& owner) {
  Moment moment{.step = json.count("step"), .loader = make_loader(owner.plan)};
  moment.optimizer.steps = json.count("optimizer_steps");
  moment.optimizer.learning_rate = json.number("learning_rate");
  if (moment.step > owner.plan.steps || moment.optimizer.steps > moment.step) json.fail("has too many steps");
  const std::int64_t tracker = json.count("growth_tracker");
  if (tracker > std::numeric_limits<std::int32_t>::max()) json.fail("has too large a 'growth_tracker'");
  const std::int64_t steps = counts_steps(owner) ? json.count("scaled_steps") : 0;
  if (steps > moment.step) json.fail("has too many 'scaled_steps'");
  moment.scaler = {.scale = json.number("scale"),
                   .growth_tracker = static_cast<std::int32_t>(tracker),
                   .bad = json.flag("bad"),
                   .steps = steps};
  const data::Loader::Position place{json.count("epoch"), json.count("drawn")};
  try {
    moment.loader.go_to(place);
    LossScaler(owner.plan.recipe.scaling).restore(moment.scaler);
  } catch (const Error& error) {
    json.fail(concat("does not fit this run (", error.what(), ")"));
  }
  return moment;
}

Json finder_json(const FaultFinder::Memory& finder) {
  Json known = Json::array();
  for (const NonfiniteTracer::Made& made : finder.known) known.push_back({made.op, made.infinity, made.nan});
  return {{"known", std::move(known)},
          {"passed_first_step", finder.passed_first_step},
          {"passed_to_state", finder.passed_to_state},
          {"alarmed", finder.alarmed},
          {"lost_reported", finder.lost_reported}};
}

FaultFinder::Memory finder_from(const MetadataReader& json) {
  FaultFinder::Memory finder;
  finder.passed_first_step = json.flag("passed_first_step");
  finder.passed_to_state = json.flag("passed_to_state");
  finder.alarmed = json.flag("alarmed");
  // Checkpoints before 2026-11-27 lack it.
  finder.lost_reported = json.json().contains("lost_reported") && json.flag("lost_reported");
  if (!json.at("known").is_array()) json.fail("has a 'known' that is no list");
  for (const Json& made : json.at("known")) {
    if (!made.is_array() || made.size() != 3 || !made[0].is_number_unsigned() || !made[1].is_boolean() ||
        !made[2].is_boolean())
      json.fail(concat("has something 'known' that no op makes: ", excerpt(made.dump())));
    finder.known.push_back({made[0].get<std::size_t>(), made[1].get<bool>(), made[2].get<bool>()});
  }
  return finder;
}

}  // namespace

Safetensors contents_of(const Checkpoint& checkpoint, const CheckpointOwner& owner) {
  Safetensors contents;
  const RunResult& counts = checkpoint.counts;
  contents.metadata = {{"tinymp.checkpoint", std::to_string(checkpoint_version)},
                       {"tinymp.plan", metadata_text(plan_json(owner))},
                       {"tinymp.run", Json{{"step", checkpoint.moment.step},
                                           {"taken", counts.taken},
                                           {"skipped", counts.skipped},
                                           {"first_nonfinite_step", counts.first_nonfinite_step},
                                           {"log_lines", checkpoint.log_lines}}
                                          .dump()},
                       {"tinymp.moment", moment_json(checkpoint.moment, owner).dump()},
                       {"tinymp.finder", finder_json(checkpoint.finder).dump()}};
  add_tensors(checkpoint.moment, names_of_now, owner, contents);
  if (checkpoint.finder.past) {
    contents.metadata["tinymp.past"] = moment_json(*checkpoint.finder.past, owner).dump();
    add_tensors(*checkpoint.finder.past, names_of_past, owner, contents);
  }
  seal(contents);
  return contents;
}

Checkpoint checkpoint_from(const Safetensors& contents, const std::string& path,
                           const CheckpointOwner& owner) {
  expect_version(contents, path, "no checkpoint to go on from; take the weights alone: --weights-only");
  expect_same_plan({contents, "tinymp.plan", path}, path, owner);
  const MetadataReader run(contents, "tinymp.run", path);
  Checkpoint checkpoint{.moment = moment_from({contents, "tinymp.moment", path}, owner)};
  checkpoint.counts.taken = run.count("taken");
  checkpoint.counts.skipped = run.count("skipped");
  checkpoint.counts.first_nonfinite_step = run.count("first_nonfinite_step");
  checkpoint.log_lines = run.count("log_lines");
  if (run.count("step") != checkpoint.moment.step) run.fail("and 'tinymp.moment' are of different steps");
  const RunResult& counts = checkpoint.counts;
  const std::int64_t step = checkpoint.moment.step;
  // A log has two lines a step at most, its sizes being one, and lines for the few things it finds.
  if (counts.skipped > step || counts.taken != step - counts.skipped || counts.first_nonfinite_step > step ||
      checkpoint.log_lines / 3 - 1 > step)
    run.fail("has counts that do not add up");
  const data::Loader::Position place = checkpoint.moment.loader.position();
  const std::int64_t batches = checkpoint.moment.loader.batches_per_epoch();
  if (place.epoch > step || place.epoch * batches + place.drawn != step)
    run.fail(concat("is at step ", step, ", and its place in the data at another"));
  checkpoint.finder = finder_from({contents, "tinymp.finder", path});
  std::vector<std::string> taken;
  take_tensors(contents, names_of_now, path, owner, checkpoint.moment, taken);
  if (contents.metadata.contains("tinymp.past")) {
    Moment past = moment_from({contents, "tinymp.past", path}, owner);
    take_tensors(contents, names_of_past, path, owner, past, taken);
    checkpoint.finder.past.emplace(std::move(past));
  }
  std::ranges::sort(taken);
  for (const auto& entry : contents.tensors)
    expect(std::ranges::binary_search(taken, entry.first), path,
           ": a damaged checkpoint: this run has no tensor '", excerpt(entry.first),
           "'; take another copy, or an earlier checkpoint");
  return checkpoint;
}

std::int64_t step_of_checkpoint(const std::string& path) {
  const Safetensors contents = load_safetensors(path);
  expect_version(contents, path, "no checkpoint to go on from; take the weights alone: --weights-only");
  return MetadataReader(contents, "tinymp.moment", path).count("step");
}

}  // namespace tinymp::train
