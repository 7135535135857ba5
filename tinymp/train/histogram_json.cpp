#include <tinymp/base/error.h>
#include <tinymp/train/histogram_json.h>
#include <limits>
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
  json.update({{"largest", g.largest},
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

std::int64_t count_of(const In& json, const char* key) {
  const In& value = json.at(key);
  expect(value.is_number_integer() && value.get<std::int64_t>() >= 0, "\"sizes\": \"", key,
         "\" is not a count: ", value.dump());
  return value.get<std::int64_t>();
}

Histogram histogram_from(const In& json) {
  Histogram h{.zeros = count_of(json, "zeros"),
              .nonfinite = count_of(json, "nonfinite"),
              .first = json.at("first").get<int>(),
              .counts = json.at("counts").get<std::vector<std::int64_t>>()};
  expect(h.first > -10000 && h.first < 10000 && h.counts.size() < 20000,
         "\"sizes\": a histogram from \"first\" = ", h.first, " on, of ", h.counts.size(), " counts");
  for (const std::int64_t count : h.counts) expect(count >= 0, "\"sizes\": a count is ", count);
  return h;
}

ParameterSizes parameter_from(const In& json) {
  const In& g = json.at("gradients");
  ParameterSizes parameter{.name = json.at("name").get<std::string>(),
                           .gradients = {.sizes = histogram_from(g),
                                         .largest = g.at("largest").get<double>(),
                                         .subnormal = count_of(g, "subnormal"),
                                         .overflowed = count_of(g, "overflowed"),
                                         .flushed = count_of(g, "flushed")}};
  if (!json.contains("updates")) return parameter;
  const In& u = json.at("updates");
  parameter.updates = {.ratios = histogram_from(u),
                       .underflowed = count_of(u, "underflowed"),
                       .absorbed = count_of(u, "absorbed")};
  return parameter;
}

}  // namespace

Out json_of(const StepSizes& sizes) {
  Out parameters = Out::array();
  for (const ParameterSizes& p : sizes.parameters) {
    Out json = {{"name", p.name}, {"gradients", json_of(p.gradients)}};
    if (p.updates) json["updates"] = json_of(*p.updates);
    parameters.push_back(std::move(json));
  }
  return {{"step", sizes.step}, {"scale", sizes.scale}, {"parameters", std::move(parameters)}};
}

StepSizes sizes_from(const In& json) {
  const In& scale = json.at("scale");  // JSON has no infinity, and nlohmann writes null
  StepSizes sizes{.step = count_of(json, "step"),
                  .scale = scale.is_null() ? std::numeric_limits<double>::infinity() : scale.get<double>()};
  for (const In& p : json.at("parameters")) sizes.parameters.push_back(parameter_from(p));
  return sizes;
}

}  // namespace tinymp::train
