#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/train/log_json.h>
#include <nlohmann/json.hpp>

namespace tinymp::train {
namespace {

using Out = nlohmann::ordered_json;
using In = nlohmann::json;

Out json_of(const Histogram& h) {
  return {{"zeros", h.zeros}, {"nonfinite", h.nonfinite}, {"first", h.first}, {"counts", h.counts}};
}

Out json_of(const GradientSizes& g) {
  Out json = json_of(g.sizes);
  json.update({{"largest", json_number(g.largest)},
               {"subnormal", g.subnormal},
               {"overflowed", g.overflowed},
               {"flushed", g.flushed}});
  return json;
}

Out json_of(const UpdateSizes& u) {
  Out json = json_of(u.ratios);
  json.update({{"underflowed", u.underflowed}, {"absorbed", u.absorbed}});
  return json;
}

/// Checks the type first: nlohmann converts fractions, true and numbers out of range to integers.
std::int64_t integer_of(const In& json, const char* what, std::int64_t low, std::int64_t high) {
  const bool wraps = json.is_number_unsigned() && json.get<std::int64_t>() < 0;
  const bool fits = json.is_number_integer() && !wraps && json >= low && json <= high;
  expect(fits, '"', what, "\" is no integer from ", low, " to ", high, ": ", excerpt(json.dump()));
  return json.get<std::int64_t>();
}

/// More than any count of a step. The sum of all counts that fit one line of the log fits 64 bits.
constexpr std::int64_t largest_count = 1'000'000'000'000;

std::int64_t count_of(const In& json, const char* what) { return integer_of(json, what, 0, largest_count); }

double number_of(const In& json, const char* key) {
  const std::optional<double> number = number_from(json.at(key));
  expect(number.has_value(), '"', key, "\" is not a number: ", excerpt(json.at(key).dump()));
  return *number;
}

Histogram histogram_from(const In& json) {
  const In& counts = json.at("counts");
  expect(counts.is_array() && counts.size() <= 2 * farthest_exponent + 1, "\"counts\" is no list of at most ",
         2 * farthest_exponent + 1, " numbers");
  Histogram h{.zeros = count_of(json.at("zeros"), "zeros"),
              .nonfinite = count_of(json.at("nonfinite"), "nonfinite"),
              .first = static_cast<int>(integer_of(json.at("first"), "first", -9999, 9999))};
  for (const In& count : counts) h.counts.push_back(count_of(count, "counts"));
  return h;
}

ParameterSizes parameter_from(const In& json) {
  const In& g = json.at("gradients");
  ParameterSizes parameter{.name = cut_to(json.at("name").get<std::string>(), 120),
                           .gradients = {.sizes = histogram_from(g),
                                         .largest = number_of(g, "largest"),
                                         .subnormal = count_of(g.at("subnormal"), "subnormal"),
                                         .overflowed = count_of(g.at("overflowed"), "overflowed"),
                                         .flushed = count_of(g.at("flushed"), "flushed")}};
  if (!json.contains("updates")) return parameter;
  const In& u = json.at("updates");
  parameter.updates = {.ratios = histogram_from(u),
                       .underflowed = count_of(u.at("underflowed"), "underflowed"),
                       .absorbed = count_of(u.at("absorbed"), "absorbed")};
  return parameter;
}

NarrowedSizes narrowed_from(const In& json) {
  return {.what = cut_to(json.at("what").get<std::string>(), 40),
          .dtype = dtype_from_name(json.at("dtype").get<std::string>()),
          .values = count_of(json.at("values"), "values"),
          .flushed = count_of(json.at("flushed"), "flushed"),
          .saturated = count_of(json.at("saturated"), "saturated")};
}

}  // namespace

Out json_of(const StepSizes& sizes) {
  Out parameters = Out::array();
  for (const ParameterSizes& p : sizes.parameters) {
    Out json = {{"name", p.name}, {"gradients", json_of(p.gradients)}};
    if (p.updates) json["updates"] = json_of(*p.updates);
    parameters.push_back(std::move(json));
  }
  Out json = {
      {"step", sizes.step}, {"scale", json_number(sizes.scale)}, {"parameters", std::move(parameters)}};
  for (const NarrowedSizes& n : sizes.eight_bits)
    json["fp8"].push_back({{"what", n.what},
                           {"dtype", name_of(n.dtype)},
                           {"values", n.values},
                           {"flushed", n.flushed},
                           {"saturated", n.saturated}});
  return json;
}

StepSizes sizes_from(const In& json) {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  StepSizes sizes{.step = integer_of(json.at("step"), "step", 0, last), .scale = number_of(json, "scale")};
  const In& parameters = json.at("parameters");
  expect(parameters.is_array(), "\"parameters\" is no list: ", excerpt(parameters.dump()));
  for (const In& p : parameters) sizes.parameters.push_back(parameter_from(p));
  if (!json.contains("fp8")) return sizes;
  const In& eight_bits = json.at("fp8");
  expect(eight_bits.is_array(), "\"fp8\" is no list: ", excerpt(eight_bits.dump()));
  for (const In& n : eight_bits) sizes.eight_bits.push_back(narrowed_from(n));
  return sizes;
}

}  // namespace tinymp::train
