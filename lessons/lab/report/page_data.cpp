#include <fmt/format.h>

#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/html_parts.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/sentences.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace tinymp::report {
namespace {

using Json = nlohmann::ordered_json;

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
    case Quantity::validation_loss:
      return "validation_loss";
    case Quantity::skips:
      return "skips";
    case Quantity::lr:
      return "lr";
    case Quantity::metric:
      break;
  }
  return "metric";
}

/// Six digits are more than a screen can show and keep the page small; a whole number stays whole.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  const auto is_whole = [](double x) { return std::abs(x) < 1e15 && x == std::floor(x); };
  if (is_whole(value)) return static_cast<std::int64_t>(value);
  const std::string text = fmt::format("{:.6g}", value);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return is_whole(rounded) ? Json(static_cast<std::int64_t>(rounded)) : Json(rounded);
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

/// Most curves of a section have the same steps, which are written once.
class Grids {
 public:
  std::size_t index_of(const std::vector<double>& steps) {
    const auto [at, is_new] = known_.try_emplace(steps, json_.size());
    if (is_new) json_.push_back(numbers(steps));
    return at->second;
  }
  Json take() { return std::move(json_); }

 private:
  std::map<std::vector<double>, std::size_t> known_;
  Json json_ = Json::array();
};

Json series_json(const Panel& panel, std::size_t which, Grids& grids) {
  const Curve& curve = panel.curves[which];
  Json json = {
      {"curve", panel.group[which]}, {"grid", grids.index_of(curve.step)}, {"mean", numbers(curve.mean)}};
  if (curve.seeds > 1) {
    json["low"] = numbers(curve.low);
    json["high"] = numbers(curve.high);
  }
  json["ends"] = Json::array();
  for (const CurveEnd& end : curve.ends)
    json["ends"].push_back({{"step", number(end.step)}, {"value", number(end.value)}});
  return json;
}

Json findings_json(const PageSection& section) {
  Json list = Json::array();
  for (const FindingLine& line : finding_lines(section.groups))
    list.push_back({{"curve", line.group},
                    {"step", number(x_at(section.groups[line.group], line.step, section.x))},
                    {"text", shown_text(line.text)}});
  return list;
}

Json section_json(const PageSection& section) {
  Json json = {{"names", Json::array()}, {"x", word_of(section.x)}, {"steps", 1}, {"panels", Json::array()}};
  double last = section.x == XAxis::step ? 1 : 0;
  Grids grids;
  for (const Group& group : section.groups) json["names"].push_back(shown_text(group.name));
  for (const Panel& panel : section.panels) {
    Json series = Json::array();
    for (std::size_t i = 0; i < panel.curves.size(); ++i) {
      last = std::max(last, panel.curves[i].step.back());
      series.push_back(series_json(panel, i, grids));
    }
    json["panels"].push_back({{"quantity", name_of(panel.quantity)},
                              {"title", shown_text(panel.title)},
                              {"scale", name_of(panel.scale)},
                              {"held", is_held(panel.quantity)},
                              {"series", std::move(series)}});
  }
  json["steps"] = number(last > 0 ? last : 1);
  json["grids"] = grids.take();
  json["findings"] = findings_json(section);
  return json;
}

}  // namespace

std::string page_data(std::span<const PageSection> sections) {
  Json json = {{"styles", styles()}, {"cross", cross_path}, {"sections", Json::array()}};
  for (const PageSection& section : sections) json["sections"].push_back(section_json(section));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a name may hold any bytes
}

}  // namespace tinymp::report
