#pragma once

#include <lessons/lab/report/curves.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Fields of a run by name: what selects runs, groups them, and stands in the columns of an export.
namespace tinymp::report {

/// "run, name, recipe, model, ...": all names, for messages.
std::string all_run_fields();

/// Throws UsageError naming the fields there are when `field` is none of them.
void expect_run_field(std::string_view field);

/// The field as text, "" when the run does not have it. The recipe is the name of the preset that it equals, else its
/// formats. The learning rate is that of the optimizer's text, else that of the first step that logged one.
std::string run_field(const Run& run, std::string_view field);

/// The name of a run in tables: its file without the folder's path above the last, and without ".jsonl".
std::string run_name(const Run& run);

struct Condition {
  std::string field, value;
};

/// "recipe=fp16_dynamic,model=mlp" -> two conditions. A comma with a space behind it belongs to the value. Throws
/// UsageError for an unknown field and for a text without "=".
std::vector<Condition> conditions_from(std::string_view text);

/// Numbers are compared as numbers, run and name as a whole, other texts by how they begin, all without regard to case.
/// A recipe is that of its preset, or that of a curve of this name.
bool fits(const Run& run, const Condition& condition);

/// The runs that fit the conditions; of several for one field, any. Throws UsageError naming the values there are when
/// none is left.
std::vector<Run> select(std::vector<Run> runs, std::span<const Condition> conditions);

/// One group for each value of the field. Numbers go up; other values stand as they first appear.
std::vector<Group> group_by_field(std::span<const Run> runs, std::string_view field);

}  // namespace tinymp::report
