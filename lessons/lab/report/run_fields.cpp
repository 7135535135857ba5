#include <fmt/format.h>

#include <lessons/lab/report/csv_number.h>
#include <lessons/lab/report/number.h>
#include <lessons/lab/report/run_fields.h>
#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

namespace tinymp::report {
namespace {

enum class Match { whole, begin, number };

struct Field {
  std::string_view name;
  Match match;
  std::string (*text)(const Run&);
};

std::string preset_of(const Recipe& recipe) {
  for (const std::string& name : recipe_names())
    if (recipe_from_name(name) == recipe) return name;
  return describe(recipe);
}

std::string recipe_of(const Run& run) {
  return run.foreign_recipe.empty() ? preset_of(run.header.recipe) : run.foreign_recipe;
}

std::string lr_of(const Run& run) {
  const std::string& text = run.header.optimizer;
  if (const std::size_t at = text.find("lr="); at != std::string::npos)
    return text.substr(at + 3, std::min(text.find(' ', at), text.size()) - at - 3);
  for (const train::LogRecord& record : run.steps)
    if (!std::isnan(record.lr)) return short_number(record.lr, 6);
  return "";
}

template <std::string train::RunHeader::*field>
std::string text_of(const Run& run) {
  return run.header.*field;
}
template <std::int64_t train::RunHeader::*field>
std::string number_of(const Run& run) {
  return run.header.*field == 0 ? "" : concat(run.header.*field);
}
template <DType Recipe::*field>
std::string format_of(const Run& run) {
  return run.foreign_recipe.empty() ? concat(name_of(run.header.recipe.*field)) : "";
}

using train::RunHeader;
constexpr std::array<Field, 30> fields = {
    {{"run", Match::whole, run_name},
     {"name", Match::whole, text_of<&RunHeader::name>},
     {"recipe", Match::whole, recipe_of},
     {"model", Match::begin, text_of<&RunHeader::model>},
     {"data", Match::begin, text_of<&RunHeader::data>},
     {"seed", Match::number, [](const Run& r) { return r.has_seed ? concat(r.header.seed) : std::string(); }},
     {"lr", Match::number, lr_of},
     {"optimizer", Match::begin, text_of<&RunHeader::optimizer>},
     {"steps", Match::number, number_of<&RunHeader::steps>},
     {"batch", Match::number, number_of<&RunHeader::batch>},
     {"micro_batches", Match::number, number_of<&RunHeader::micro_batches>},
     {"recompute", Match::whole, text_of<&RunHeader::recompute>},
     {"ranks", Match::number, number_of<&RunHeader::ranks>},
     {"wire", Match::begin, text_of<&RunHeader::wire>},
     {"lesson", Match::begin, text_of<&RunHeader::lesson>},
     {"question", Match::begin, text_of<&RunHeader::question>},
     {"metric", Match::begin, text_of<&RunHeader::metric>},
     {"device", Match::begin, text_of<&RunHeader::device>},
     {"threads", Match::number, [](const Run& r) { return concat(r.header.threads); }},
     {"commit", Match::begin, text_of<&RunHeader::commit>},
     {"compiler", Match::begin, text_of<&RunHeader::compiler>},
     {"date", Match::begin, text_of<&RunHeader::date>},
     {"command", Match::begin, text_of<&RunHeader::command>},
     {"pieces", Match::begin, text_of<&RunHeader::pieces>},
     {"compute", Match::whole, format_of<&Recipe::compute>},
     {"accumulate", Match::whole, format_of<&Recipe::accumulate>},
     {"master", Match::whole, format_of<&Recipe::master>},
     {"state", Match::whole, format_of<&Recipe::state>},
     {"autocast", Match::whole, format_of<&Recipe::autocast>},
     {"scaling", Match::whole, [](const Run& r) {
        return r.foreign_recipe.empty() ? concat(name_of(r.header.recipe.scaling)) : "";
      }}}};

const Field& field_named(std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  if (found == fields.end())
    throw UsageError(concat("runs have no field '", excerpt(name), "'; there are ", all_run_fields()));
  return *found;
}

bool is_same(Match match, const std::string& there, const std::string& wanted) {
  if (match == Match::number) {
    const std::optional<double> a = csv_number(there), b = csv_number(wanted);
    return a && b ? *a == *b : there == wanted;
  }
  return match == Match::whole ? lowered(there) == lowered(wanted)
                               : lowered(there).starts_with(lowered(wanted));
}

/// "fp32 (3 runs), fp16_dynamic (3 runs)", the first ten.
std::string values_of(std::span<const Run> runs, std::string_view field) {
  constexpr std::size_t most = 10;
  std::vector<std::pair<std::string, int>> counts;
  for (const Run& run : runs) {
    const std::string value = run_field(run, field);
    const auto same = std::ranges::find(counts, value, &std::pair<std::string, int>::first);
    if (same == counts.end())
      counts.emplace_back(value, 1);
    else
      ++same->second;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(most, counts.size()); ++i)
    text += fmt::format("{}{} ({} run{})", i == 0 ? "" : ", ",
                        counts[i].first.empty() ? "none" : excerpt(counts[i].first), counts[i].second,
                        counts[i].second == 1 ? "" : "s");
  return counts.size() > most ? text + concat(" and ", counts.size() - most, " more") : text;
}

std::string without_ending(std::string path) {
  if (path.ends_with(".jsonl")) path.resize(path.size() - 6);
  return path;
}

}  // namespace

std::string all_run_fields() {
  std::string all;
  for (const Field& field : fields) all += concat(all.empty() ? "" : ", ", field.name);
  return all;
}

void expect_run_field(std::string_view field) { field_named(field); }

std::string run_field(const Run& run, std::string_view field) { return field_named(field).text(run); }

std::string run_name(const Run& run) {
  const std::filesystem::path path(run.path);
  const std::string file = without_ending(path.filename().string());
  const std::string folder = path.parent_path().filename().string();
  return folder.empty() || folder == "." || folder == ".." ? file : folder + "/" + file;
}

std::vector<Condition> conditions_from(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool separates = text[i] == ',' && (i + 1 == text.size() || text[i + 1] != ' ');
    if (separates)
      parts.emplace_back();
    else
      parts.back() += text[i];
  }
  std::vector<Condition> conditions;
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || trimmed(part).empty())
      throw UsageError(concat("'", excerpt(part), "' is no condition; FIELD=VALUE is one: recipe=fp32"));
    conditions.push_back(
        {std::string(trimmed(part.substr(0, equals))), std::string(trimmed(part.substr(equals + 1)))});
    field_named(conditions.back().field);
  }
  return conditions;
}

bool fits(const Run& run, const Condition& condition) {
  const Field& field = field_named(condition.field);
  if (is_same(field.match, field.text(run), condition.value)) return true;
  if (field.name != "recipe") return false;
  const std::vector<std::string> names = recipe_names();
  // o0 is fp32 by another name: a preset is compared by what it is.
  if (run.foreign_recipe.empty() && std::ranges::find(names, lowered(condition.value)) != names.end())
    return recipe_from_name(lowered(condition.value)) == run.header.recipe;
  return is_same(Match::whole, run.header.name, condition.value);
}

std::vector<Run> select(std::vector<Run> runs, std::span<const Condition> conditions) {
  std::map<std::string, std::vector<const Condition*>> by_field;
  for (const Condition& condition : conditions) by_field[condition.field].push_back(&condition);
  const auto is_wanted = [&](const Run& run) {
    return std::ranges::all_of(by_field, [&](const auto& field) {
      return std::ranges::any_of(field.second, [&](const Condition* one) { return fits(run, *one); });
    });
  };
  if (runs.empty() || std::ranges::any_of(runs, is_wanted)) {
    std::erase_if(runs, [&](const Run& run) { return !is_wanted(run); });
    return runs;
  }
  std::string wanted, there;
  for (const Condition& condition : conditions)
    wanted += concat(wanted.empty() ? "" : ", ", condition.field, "=", excerpt(condition.value));
  for (const auto& [field, _] : by_field) there += concat("; ", field, " is ", values_of(runs, field));
  throw UsageError(concat("none of ", runs.size(), " runs has ", wanted, there));
}

std::vector<Group> group_by_field(std::span<const Run> runs, std::string_view name) {
  const Field& field = field_named(name);
  std::vector<Group> groups;
  std::map<std::string, std::size_t> known;
  std::map<std::string, int> named;
  for (const Run& run : runs) {
    std::string value = field.text(run);
    if (value.empty()) value = "unknown";
    // Two folders may bear one name: what tells runs apart is the path.
    const auto [found, is_new] =
        known.emplace(name == "run" ? concat(run.path, "\n", value) : value, groups.size());
    if (is_new) groups.push_back({value, {}});
    if (is_new) ++named[value];
    groups[found->second].runs.push_back(&run);
  }
  for (Group& group : groups)
    if (named[group.name] > 1) group.name = without_ending(group.runs[0]->path);
  if (field.match != Match::number) return groups;
  std::ranges::stable_sort(groups, {}, [](const Group& group) {
    const double value = csv_number(group.name).value_or(train::not_measured);
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
  });
  for (Group& group : groups) group.name = concat(name, " ", group.name);
  return groups;
}

}  // namespace tinymp::report
