#include <lessons/lab/learn/commands/predict_ways.h>
#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <algorithm>
#include <array>
#include <optional>

namespace tinymp::lab {
namespace {

constexpr std::string_view half_sums = "_sum16";

const std::array<Way, 5> formats{{{"fp32", recipes::fp32},
                                  {"fp16", recipes::o3},
                                  {"bf16", {.compute = DType::bf16}},
                                  {"o1", recipes::o1},
                                  {"o2", recipes::o2}}};

Way with_half_sums(Way way) {
  way.name += half_sums;
  way.recipe.accumulate = DType::f16;
  return way;
}

/// No GPU adds up BF16 products in FP16.
bool has_way(const Way& way, Device device) {
  return device == Device::cpu || way.recipe.compute != DType::bf16 || way.recipe.accumulate != DType::f16;
}

std::vector<Way> all_ways(const train::SavedModel& model, Device device) {
  const bool has_norm = !model.weights->buffers().empty();
  std::vector<Way> ways;
  for (const Way& way : formats) {
    if (way.name == "o2" && !has_norm) continue;  // it would be fp16 again
    ways.push_back(way);
    if (has_way(with_half_sums(way), device)) ways.push_back(with_half_sums(way));
  }
  const Way own = own_way(model);
  if (std::ranges::none_of(ways, [&](const Way& way) { return answer_alike(way.recipe, own.recipe); }))
    ways.push_back(own);
  return ways;
}

std::optional<Way> way_named(const std::string& name) {
  for (const Way& way : formats)
    if (name == way.name) return way;
  const std::vector<std::string> known = recipe_names();
  if (std::ranges::find(known, name) != known.end()) return Way{name, recipe_from_name(name)};
  if (!name.ends_with(half_sums)) return {};
  const std::optional<Way> base = way_named(name.substr(0, name.size() - half_sums.size()));
  if (!base || base->recipe.accumulate == DType::f16) return {};
  return with_half_sums(*base);
}

[[noreturn]] void refuse(const std::string& name) {
  std::string choices;
  for (const Way& way : formats) choices += way.name + ", ";
  for (const std::string& known : recipe_names())
    if (choices.find(known + ",") == std::string::npos) choices += known + ", ";
  throw UsageError(concat("--recipe: \"", excerpt(name), "\" is not a recipe; choose from ", choices,
                          "each also with _sum16, or all"));
}

}  // namespace

bool answer_alike(const Recipe& a, const Recipe& b) {
  return a.compute == b.compute && a.accumulate == b.accumulate && a.autocast == b.autocast &&
         a.eight_bits == b.eight_bits &&
         (a.fp32_norm_parameters == b.fp32_norm_parameters || a.compute == DType::f32);
}

Way own_way(const train::SavedModel& model) {
  const bool has_norm = !model.weights->buffers().empty();
  Recipe recipe = model.recipe;
  if (!has_norm) recipe.fp32_norm_parameters = false;
  for (const Way& way : formats)
    for (const Way& known : {way, with_half_sums(way)})
      if (answer_alike(known.recipe, recipe)) return known;
  return {"as trained", recipe};
}

std::vector<Way> ways_from(const std::string& names, const train::SavedModel& model, Device device) {
  if (names == "all") return all_ways(model, device);
  std::vector<Way> ways;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    const std::optional<Way> way = way_named(name);
    if (!way) refuse(name);
    if (!has_way(*way, device))
      throw UsageError(
          concat("--recipe: ", name, " is for --device cpu; no GPU adds up BF16 products in FP16"));
    if (std::ranges::find(ways, name, &Way::name) != ways.end())
      throw UsageError(concat("--recipe: ", name, " is named twice"));
    ways.push_back(*way);
    begin = end + 1;
  }
  return ways;
}

}  // namespace tinymp::lab
