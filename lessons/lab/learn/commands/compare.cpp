#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/find_runs.h>
#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/csv_runs.h>
#include <lessons/lab/report/run_fields.h>
#include <lessons/lab/report/write_file.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <span>

// ./learn compare: runs from disk, as if they had just been trained.
namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

const char* const fields_of_a_log =
    "A log (*.jsonl) has a JSON object a line. What was not measured is left out; NaN\n"
    "and infinities are the strings nan, inf, -inf.\n"
    "  first line   tinymp_run, lesson, question, name, recipe, seed, model, data,\n"
    "               optimizer, steps, batch, micro_batches (of --accumulate),\n"
    "               recompute (the segments), metric, higher_is_better, command,\n"
    "               date, commit, compiler, device, threads, pieces\n"
    "  a step       step, loss (of the batch, unscaled), scale (S), skipped, skips\n"
    "               (so far), lr, grad_norm (before clipping), epoch, seconds (of\n"
    "               training), validation_loss and metric (both on the validation\n"
    "               data); shares from 0 to 1: zero and subnormal of the gradients,\n"
    "               flushed of those that FP32 keeps, underflowed and absorbed of the\n"
    "               updates\n"
    "  sizes        how many gradients and updates of each size, for each parameter\n"
    "  finding      where the first infinity or NaN came from\n"
    "  result       value (of metric, on the test set; of a text on all validation\n"
    "               data), taken, skipped, first_nonfinite_step (0: none), seconds,\n"
    "               peak_bytes, memory (bytes of weights, masters, optimizer,\n"
    "               gradients, activations, workspace, scratch of kernels: the most\n"
    "               of each),\n"
    "               peak_without_scratch (what ./learn memory tells beforehand),\n"
    "               weights (a hash, see ./learn train --hash)\n"
    "More of each: tinymp/train/run_log.h";

/// The newest folders of runs, as a hint.
std::string recorded_here(const std::string& folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const fs::directory_iterator inside(entry.path(), ignored);
    if (std::any_of(begin(inside), end(inside),
                    [](const auto& file) { return file.path().extension() == ".jsonl"; }))
      found.emplace_back(entry.last_write_time(ignored), entry.path().string());
  }
  if (found.empty()) return "None is recorded in " + folder + "/ yet; ./learn quickstart records some";
  std::ranges::sort(found, std::greater());
  std::string text = "The newest in " + folder + "/:";
  for (const auto& [_, path] : std::span(found).first(std::min<std::size_t>(3, found.size())))
    text += " " + path;
  return text;
}

struct CompareFlags {
  Options options;
  report::RunsView view;
  std::vector<std::string> paths, where;
  std::string x = "step", csv, json;
};

void add_choice_flags(CLI::App& app, CompareFlags& flags) {
  const char* const group = "Which runs, in which groups";
  app.add_option("--where", flags.where, "Only runs with these fields: recipe=fp16_dynamic,model=mlp")
      ->type_name("FIELD=VALUE,...")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--by", flags.view.by, "A group for each value of a field: recipe, model, seed, lr, run")
      ->type_name("FIELD")
      ->group(group);
  app.add_option("--against", flags.view.against, "The baseline: a group, a run, a recipe or FIELD=VALUE")
      ->type_name("RUN|GROUP")
      ->group(group);
}

void add_curve_flags(CLI::App& app, CompareFlags& flags) {
  const char* const group = "Curves in the terminal";
  std::string all;
  for (const std::string& name : report::curve_names()) all += (all.empty() ? "" : ", ") + name;
  app.add_option("--metric", flags.view.metric, all)
      ->type_name("NAME")
      ->check(CLI::IsMember(report::curve_names()).description(""))
      ->group(group);
  app.add_option("--x", flags.x, "step, epoch or seconds; of the page, too")
      ->type_name("NAME")
      ->check(CLI::IsMember({"step", "epoch", "seconds"}).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_option("--smooth", flags.view.smooth, "Weight of a moving average, 0 (none) up to 1")
      ->type_name("W")
      ->check(not_negative())
      ->group(group);
  app.add_flag("--log", flags.view.logarithmic, "Logarithmic values")->group(group);
}

void add_export_flags(CLI::App& app, CompareFlags& flags) {
  const char* const group = "Figures for other programs, a row a group (--by run: a row a run)";
  app.add_option("--csv", flags.csv, "A table: run, recipe, ... final, best (as the table's note says), ...")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--json", flags.json, "The same as JSON, with the memory of each kind")
      ->type_name("FILE")
      ->group(group);
}

void check(CompareFlags& flags) {
  if (flags.paths.empty()) throw UsageError("compare which runs? " + recorded_here(flags.options.out));
  if (!(flags.view.smooth < 1))
    throw UsageError("--smooth takes a weight from 0 up to, but not including, 1");
  if (!flags.view.by.empty()) report::expect_run_field(flags.view.by);
  flags.view.x = flags.x == "epoch"     ? report::XAxis::epoch
                 : flags.x == "seconds" ? report::XAxis::seconds
                                        : report::XAxis::step;
}

bool is_of_table(const train::Run& run) { return run.header.lesson == report::lesson_of_a_table; }

/// A table of another program names no question. It is drawn beside the runs, where these have one question.
void put_beside(std::vector<train::Run>& runs) {
  std::set<std::string> questions;
  for (const train::Run& run : runs)
    if (!is_of_table(run)) questions.insert(run.header.question);
  if (questions.size() != 1) return;
  for (train::Run& run : runs)
    if (is_of_table(run)) run.header.question = *questions.begin();
}

/// Throws UsageError when an export would replace what was read.
void expect_nothing_lost(const CompareFlags& flags, std::span<const report::ReportSection> sections) {
  std::vector<std::string> read;
  for (const report::ReportSection& section : sections)
    for (const train::Run& run : section.runs)
      read.push_back(is_of_table(run) ? run.path.substr(0, run.path.rfind('#')) : run.path);
  report::expect_no_input(flags.csv, "--csv", read);
  report::expect_no_input(flags.json, "--json", read);
}

std::vector<train::Run> chosen(const CompareFlags& flags) {
  std::vector<report::Condition> conditions;
  for (const std::string& text : flags.where)
    std::ranges::move(report::conditions_from(text), std::back_inserter(conditions));
  const bool is_metric =
      flags.view.metric == "accuracy" || flags.view.metric == "mse" || flags.view.metric == "perplexity";
  std::vector<train::Run> runs =
      report::select(find_runs(flags.paths, is_metric ? flags.view.metric : ""), conditions);
  put_beside(runs);
  // A question is about one model and one set of data: groups by these are of several questions.
  if (flags.view.by == "model" || flags.view.by == "data" || flags.view.by == "lesson")
    for (train::Run& run : runs) run.header.question = "Recorded runs by " + flags.view.by;
  return runs;
}

/// The figures of each question; throws UsageError when --against means nothing in any.
std::vector<report::Comparison> figures_of(std::span<const report::ReportSection> sections,
                                           const report::RunsView& view) {
  std::vector<std::vector<report::Group>> questions;
  for (const report::ReportSection& section : sections)
    questions.push_back(report::groups_of(section.runs, view));
  report::expect_baseline(questions, view);
  std::vector<report::Comparison> figures;
  for (const std::vector<report::Group>& groups : questions)
    figures.push_back(report::compare_groups(groups, view));
  return figures;
}

void write_exports(const CompareFlags& flags, std::span<const report::Comparison> figures) {
  if (!flags.csv.empty())
    report::write_whole(flags.csv, report::comparison_csv(figures), "the table", "--csv FILE");
  if (!flags.json.empty())
    report::write_whole(flags.json, report::comparison_json(figures), "the figures", "--json FILE");
}

void tell_exports(const CompareFlags& flags) {
  if (!flags.csv.empty()) std::cout << "Table:  " << flags.csv << "\n";
  if (!flags.json.empty()) std::cout << "JSON:   " << flags.json << "\n";
}

}  // namespace

int compare(int argc, char** argv) {
  CompareFlags flags;
  CLI::App app(concat(compare_lesson.title, ".\n", compare_lesson.question), "./learn compare");
  app.add_option("RUN", flags.paths,
                 "Run logs (*.jsonl), folders of them, tables (*.csv), patterns: 'runs/*/fp16*.jsonl'");
  add_choice_flags(app, flags);
  add_curve_flags(app, flags);
  add_export_flags(app, flags);
  add_output_flags(app, flags.options);
  app.footer(concat(report::columns_of_a_table, "\n\n", fields_of_a_log));
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  check(flags);
  flags.view.memory = true;
  flags.options.command = typed(command_of(compare_lesson), argc, argv);

  std::vector<report::ReportSection> sections = report::sections_by_question(chosen(flags));
  expect_nothing_lost(flags, sections);
  const std::vector<report::Comparison> figures = figures_of(sections, flags.view);
  write_exports(flags, figures);  // first, so that a file that cannot be written is no surprise at the end
  Lab lab(compare_lesson, flags.options);
  lab.look(flags.view);
  for (report::ReportSection& section : sections)
    for (train::Run& run : section.runs) lab.add(std::move(run));
  const int code = lab.finish();
  tell_exports(flags);
  return code;
}

}  // namespace tinymp::lab
