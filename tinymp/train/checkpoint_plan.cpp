#include <tinymp/dist/transport.h>
#include <tinymp/train/checkpoint_json.h>
#include <tinymp/train/run_log_fields.h>

// Which run a checkpoint is of.
namespace tinymp::train {
namespace {

using Json = nlohmann::json;

/// Fills a flat object: "recipe.scaling.initial".
struct Flat {
  Json& json;
  std::string prefix;

  void operator()(const std::string& key, const std::string& value) { json[prefix + key] = value; }
  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(const std::string& key, T value) {
    if constexpr (std::is_floating_point_v<T>)
      json[prefix + key] = json_number(static_cast<double>(value));
    else
      json[prefix + key] = value;
  }
  void operator()(const std::string& key, DType value) { json[prefix + key] = name_of(value); }
  void operator()(const std::string& key, Rounding value) { json[prefix + key] = name_of(value); }
  void operator()(const std::string& key, ScalingChoice auto value) { json[prefix + key] = name_of(value); }
  void operator()(const std::string& key, const LayerNames& names) { json[prefix + key] = names.text(); }
  void operator()(const std::string& key, const ScaleFloors& floors) { json[prefix + key] = to_text(floors); }
  void operator()(const std::string& key, const LossScaling& scaling) {
    json[prefix + key] = name_of(scaling);
    Flat inner{json, prefix + key + "."};
    fields(scaling, inner);
  }
};

const char* name_of_schedule(ScheduleKind kind) {
  return kind == ScheduleKind::cosine ? "cosine" : kind == ScheduleKind::step ? "step" : "constant";
}

void add_pixels(const data::LoaderOptions& pixels, Flat& flat) {
  flat("pixels.raw", pixels.scale == data::PixelScale::raw);
  flat("pixels.invert", pixels.invert);
  flat("pixels.transpose", pixels.transpose);
  flat("pixels.crop_and_flip", pixels.crop_and_flip);
  flat("pixels.normalise", pixels.normalise.has_value());
  if (!pixels.normalise) return;
  for (std::size_t c = 0; c < pixels.normalise->mean.size(); ++c) {
    flat(concat("pixels.mean.", c), pixels.normalise->mean[c]);
    flat(concat("pixels.deviation.", c), pixels.normalise->deviation[c]);
  }
}

/// True for a rounding, a format of products or a scaling of tensors that is as every checkpoint had it before there were
/// others.
bool is_usual_rounding(const Json& plan, const std::string& key) {
  const bool is_young =
      key == "recipe.kahan" || key.starts_with("recipe.fp8_") || key.starts_with("recipe.round_");
  if (!is_young) return false;
  const Recipe recipe;
  Json usual = Json::object();
  fields(recipe, Flat{usual, "recipe."});
  return plan.at(key) == usual.at(key);
}

std::string shown(const Json& object, const std::string& key) {
  return object.contains(key) ? excerpt(object.at(key).dump()) : "nothing";
}

}  // namespace

Json plan_json(const CheckpointOwner& owner) {
  const Plan& plan = owner.plan;
  Json json = Json::object();
  Flat flat{json, ""};
  flat("model", owner.model.name());
  flat("task", std::string(metric_name(plan.task)));
  flat("data", plan.text ? describe(*plan.text) : data::describe(*plan.data));
  if (!plan.text && !plan.data->classes.empty())
    json["classes"] = plan.data->classes;  // so that predictions have names
  add_pixels(plan.pixels, flat);
  flat("seed", plan.seed);
  flat("steps", plan.steps);
  flat("batch", plan.batch);
  if (plan.micro_batches > 1) flat("micro_batches", plan.micro_batches);  // older checkpoints have none
  if (plan.wire.rounds() && plan.ranks != nullptr) {  // else no bit depends on the number of ranks
    flat("wire", dist::describe(plan.wire));
    flat("wire.ranks", plan.ranks->ranks());
  }
  flat("optimizer", plan.optimizer_name);
  flat("optimizer.rule", std::string(owner.optimizer.name()));
  flat("optimizer.lr", owner.lr);
  flat("optimizer.clip", plan.clip);
  flat("schedule", std::string(name_of_schedule(plan.schedule)));
  flat("schedule.warmup", plan.warmup);
  flat("log_every", plan.log_every);  // the log goes on in the same rhythm
  flat("shadow_every", plan.shadow_every);
  flat("histogram_every", plan.histogram_every);
  flat("validate_every", plan.validate_every);
  Flat recipe{json, "recipe."};
  fields(plan.recipe, recipe);
  return json;
}

void expect_same_plan(const MetadataReader& stored, const std::string& path, const CheckpointOwner& owner) {
  const Json &there = stored.json(), here = Json::parse(metadata_text(plan_json(owner)));
  const auto expect_same = [&](const std::string& key) {
    if (key == "validate_every" && !there.contains(key))
      return;  // no bit depends on it; younger than the others
    if (!there.contains(key) && is_usual_rounding(here, key)) return;  // younger, too
    if (there.contains(key) && here.contains(key) && there.at(key) == here.at(key)) return;
    throw Error(concat(path, ": a checkpoint of another run: its \"", excerpt(key), "\" is ",
                       shown(there, key), ", and here it is ", shown(here, key),
                       "; go on with the values of that run, or take its weights alone: --weights-only"));
  };
  for (const char* first : {"model", "recipe.compute"}) expect_same(first);  // the most telling ones
  for (const auto& entry : here.items()) expect_same(entry.key());
  for (const auto& entry : there.items()) expect_same(entry.key());
}

}  // namespace tinymp::train
