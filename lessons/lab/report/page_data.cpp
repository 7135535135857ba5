#include <fmt/format.h>

#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/html_parts.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace tinymp::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_points = 4000, fewest_points = 200, points_of_a_panel = 30'000;

const char* name_of(Scale scale) {
  switch (scale) {
    case Scale::linear:
      return "linear";
    case Scale::decades:
      return "decades";
    case Scale::powers_of_two:
      return "powers of two";
    case Scale::share:
      break;
  }
  return "share";
}

const char* name_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::loss:
      return "loss";
    case Quantity::scale:
      return "scale";
    case Quantity::lost:
      return "lost";
    case Quantity::flushed:
      return "flushed";
    case Quantity::grad_norm:
      return "grad_norm";
    case Quantity::metric:
      break;
  }
  return "metric";
}

/// Six digits are more than a screen can show and keep the page small; a whole number has no ".0".
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  const std::string text = fmt::format("{:.6g}", value);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  const bool whole = std::abs(rounded) < 1e15 && rounded == std::floor(rounded);
  return whole ? Json(static_cast<std::int64_t>(rounded)) : Json(rounded);
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json styles() {
  Json list = Json::array();
  for (std::size_t i = 0; i < curve_styles; ++i) {
    const CurveStyle style = curve_style(i);
    std::string dash = style.dash;
    std::replace(dash.begin(), dash.end(), ' ', ',');
    list.push_back({{"colour", style.colour},
                    {"dash", Json::parse("[" + dash + "]")},
                    {"marker", style.marker},
                    {"hollow", style.hollow}});
  }
  return list;
}

Json series_json(const Panel& panel, std::size_t which) {
  const Curve& curve = panel.curves[which];
  Json json = {{"curve", panel.group[which]}, {"step", numbers(curve.step)}, {"mean", numbers(curve.mean)}};
  if (curve.seeds > 1) {
    json["low"] = numbers(curve.low);
    json["high"] = numbers(curve.high);
  }
  json["ends"] = Json::array();
  for (const CurveEnd& end : curve.ends)
    json["ends"].push_back({{"step", number(end.step)}, {"value", number(end.value)}});
  return json;
}

Json section_json(const PageSection& section) {
  Json json = {{"names", Json::array()}, {"steps", 1}, {"panels", Json::array()}};
  double last = 1;
  for (const Group& group : section.groups) json["names"].push_back(group.name);
  for (const Panel& panel : section.panels) {
    Json series = Json::array();
    for (std::size_t i = 0; i < panel.curves.size(); ++i) {
      last = std::max(last, panel.curves[i].step.back());
      series.push_back(series_json(panel, i));
    }
    json["panels"].push_back({{"quantity", name_of(panel.quantity)},
                              {"scale", name_of(panel.scale)},
                              {"series", std::move(series)}});
  }
  json["steps"] = number(last);
  return json;
}

}  // namespace

Panel thin_for_page(const Panel& panel) {
  Panel thinned{.quantity = panel.quantity, .title = panel.title, .scale = panel.scale, .group = panel.group};
  const std::size_t share = points_of_a_panel / std::max<std::size_t>(1, panel.curves.size());
  for (const Curve& curve : panel.curves)
    thinned.curves.push_back(thin(curve, panel.quantity, std::clamp(share, fewest_points, most_points)));
  return thinned;
}

std::string page_data(std::span<const PageSection> sections) {
  Json json = {{"styles", styles()}, {"cross", cross_path}, {"sections", Json::array()}};
  for (const PageSection& section : sections) json["sections"].push_back(section_json(section));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a name may hold any bytes
}

}  // namespace tinymp::report
