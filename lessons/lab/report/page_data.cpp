#include <fmt/format.h>

#include <lessons/lab/report/look.h>
#include <lessons/lab/report/page_data.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tinymp::report {
namespace {

constexpr std::size_t most_points = 4000;

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
      break;
  }
  return "flushed";
}

/// Six digits are more than a screen can show and keep the page small.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null"; }

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// [a,b,...] of what `item` makes from each element.
template <class List, class Item>
std::string list(const List& elements, Item item) {
  std::string text;
  for (const auto& element : elements) text += (text.empty() ? "" : ",") + item(element);
  return "[" + text + "]";
}

std::string styles() {
  std::vector<Look> all;
  for (std::size_t i = 0; i < looks; ++i) all.push_back(look(i));
  return list(all, [](const Look& l) {
    std::string dash = l.dash;
    std::replace(dash.begin(), dash.end(), ' ', ',');
    return concat("{\"colour\":\"", l.colour, "\",\"dash\":[", dash, "],\"marker\":\"", l.marker,
                  "\",\"hollow\":", l.hollow ? "true" : "false", "}");
  });
}

std::string series_json(const Panel& panel, std::size_t which) {
  const Curve curve = thin(panel.curves[which], panel.quantity, most_points);
  std::string text = concat("{\"curve\":", panel.group[which], ",\"step\":", list(curve.step, number),
                            ",\"mean\":", list(curve.mean, number));
  if (curve.seeds > 1)
    text += ",\"low\":" + list(curve.low, number) + ",\"high\":" + list(curve.high, number);
  const auto end_json = [](const CurveEnd& end) {
    return "{\"step\":" + number(end.step) + ",\"value\":" + number(end.value) + "}";
  };
  return text + ",\"ends\":" + list(curve.ends, end_json) + "}";
}

std::string panel_json(const Panel& panel) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < panel.curves.size(); ++i) which.push_back(i);
  return concat("{\"quantity\":\"", name_of(panel.quantity), "\",\"scale\":\"", name_of(panel.scale),
                "\",\"series\":", list(which, [&](std::size_t i) { return series_json(panel, i); }), "}");
}

std::string section_json(const PageSection& section) {
  double last = 1;
  for (const Panel& panel : section.panels) {
    for (const Curve& curve : panel.curves) last = std::max(last, curve.step.back());
  }
  return concat("{\"names\":", list(section.groups, [](const Group& group) { return quoted(group.name); }),
                ",\"steps\":", number(last), ",\"panels\":", list(section.panels, panel_json), "}");
}

}  // namespace

std::string page_data(std::span<const PageSection> sections) {
  return concat("{\"styles\":", styles(), ",\"cross\":\"", cross_path,
                "\",\"sections\":", list(sections, section_json), "}");
}

}  // namespace tinymp::report
