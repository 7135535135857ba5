#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/sweep.h>
#include <lessons/lab/learn/commands/sweep_cells.h>
#include <lessons/lab/learn/interrupt.h>
#include <lessons/lab/learn/lab_state.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/live_curves.h>
#include <lessons/lab/report/number.h>
#include <tinymp/data/picture_folder.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>

namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

void refuse_what_is_for_one(const CLI::App& app, const TrainFlags& flags) {
  if (!flags.name.empty())
    throw UsageError("--name names one curve; those of a sweep have the names of their recipes");
  if (flags.resume.hash)
    throw UsageError("--hash is for one run; the log of each cell of a sweep has its hash: weights");
  if (flags.ranks > 0) throw UsageError("--ranks shares the steps of one run; a sweep has several");
  if (flags.resume.goes_on())
    throw UsageError("--resume goes on with one run; a sweep goes on when its own command is given again");
  check_resume_flags(app, flags.resume);
}

bool has_result(const Cell& cell) { return cell.recorded && cell.recorded->result; }

std::string counted(std::size_t count, const char* one) {
  return concat(count, " ", one, count == 1 ? "" : "s");
}

/// "Sweep of 18 cells in runs/: 3 recipes x 2 learning rates x 3 seeds", and below "4 recorded before, 1 goes on"
std::string overview_of(const TrainFlags& flags, const std::vector<Cell>& cells) {
  const std::size_t recipes = parts_of_list("--recipe", flags.recipe.recipe).size();
  std::string text = concat("Sweep of ", counted(cells.size(), "cell"), " in ", flags.options.out,
                            "/: ", counted(recipes, "recipe"));
  if (!flags.lr.empty()) text += " x " + counted(flags.lr.size(), "learning rate");
  text += " x " + counted(static_cast<std::size_t>(std::max<std::int64_t>(1, flags.seeds)), "seed");
  const auto done = std::ranges::count_if(cells, has_result);
  const auto begun = std::ranges::count_if(cells, [](const Cell& c) { return c.recorded && !has_result(c); });
  if (done > 0) text += concat("\n", done, " recorded before");
  if (begun > 0) text += concat(done > 0 ? ", " : "\n", begun, begun == 1 ? " goes on" : " go on");
  return text;
}

/// Completes the plans and reads what is recorded of them.
void look_at_all(Lab& lab, std::vector<Cell>& cells) {
  for (Cell& cell : cells) {
    give_text(lab, cell.typed->flags.model, cell.plan);
    cell.plan = lab.complete(std::move(cell.plan));
    cell.plan.command = cell.command;
    cell.plan.question = panel(cell.plan, lab);
    static_cast<void>(told_segments(cell.plan));  // what cannot be is refused before the first cell
    cell.plan.stop = InterruptNote::seen;
    look_at(cell);
  }
}

/// Trains one cell. A folder that stays empty, as on a full disk, is taken away.
train::Run train_cell(Lab& lab, const Cell& cell) {
  std::error_code failed;
  fs::create_directories(cell.folder, failed);
  if (failed) throw Error(train::write_failure("to the folder", cell.folder, failed.value()));
  train::Plan plan = cell.plan;
  StartingWeights start;
  try {
    if (cell.typed->flags.resume.weights_only) {
      start = starting_weights(plan, cell.typed->flags.resume.resume);
      plan.start = start.model.get();
    }
    return lab.train_apart(std::move(plan), cell.log);
  } catch (...) {
    fs::remove(cell.folder, failed);
    throw;
  }
}

/// Trains what has no result yet. False when Ctrl-C came.
bool train_all(Lab& lab, std::vector<Cell>& cells) {
  auto left = static_cast<std::size_t>(std::ranges::count_if(cells, std::not_fn(has_result)));
  std::size_t trained = 0;
  const auto start = std::chrono::steady_clock::now();
  for (Cell& cell : cells) {
    if (has_result(cell)) {
      lab.say(concat(cell.name, ": recorded before"));
      if (lab.live() != nullptr) lab.live()->add(*cell.recorded);
      continue;
    }
    if (InterruptNote::seen()) return false;
    look_at(cell);  // another sweep may have been here meanwhile
    if (has_result(cell)) {
      lab.say(concat(cell.name, ": recorded by another sweep meanwhile"));
      --left;
      continue;
    }
    cell.recorded = train_cell(lab, cell);
    if (!cell.recorded->result) return false;
    ++trained;
    if (--left == 0) continue;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    lab.say(
        concat(counted(left, "cell"), " to go, about ",
               report::duration(passed.count() / static_cast<double>(trained) * static_cast<double>(left))));
  }
  return true;
}

int tell_stopped(const std::vector<Cell>& cells, const std::string& command) {
  const auto done = std::ranges::count_if(cells, has_result);
  std::cout.flush();
  std::cerr << "\n"
            << fitted_for_errors(concat("Interrupted; all logs and checkpoints are kept (", done, " of ",
                                        counted(cells.size(), "cell"), done == 1 ? " is" : " are",
                                        " done). The same command goes on:"))
            << "\n  " << command << "\n";
  return InterruptNote::exit_code();
}

/// What the cells are measured against: those in FP32, where there are others beside them.
std::string baseline_of(const std::vector<Cell>& cells) {
  const auto is_fp32 = [](const Cell& cell) { return cell.typed->flags.recipe.recipe == "fp32"; };
  const auto found = std::ranges::find_if(cells, is_fp32);
  return found == cells.end() || std::ranges::all_of(cells, is_fp32)
             ? ""
             : report::without_pieces(found->plan.name);
}

/// As ./learn compare shows them.
int compare_cells(std::vector<Cell>& cells, const Options& options) {
  Lab lab(compare_lesson, options);
  lab.look({.against = baseline_of(cells), .memory = true});
  for (Cell& cell : cells) lab.add(std::move(*cell.recorded));
  return lab.finish();
}

}  // namespace

const char* const about_sweeps =
    "Several recipes or learning rates, or --seeds, make a sweep. Each cell trains in\n"
    "OUT/RECIPE-lrLR-sSEED (-lrLR where --lr is given); at the end all are compared.\n"
    "A cell with a result is not trained again, one that was interrupted goes on.\n\n";

bool is_sweep(const TrainFlags& flags) {
  return flags.seeds > 0 || flags.lr.size() > 1 || flags.recipe.recipe.find(',') != std::string::npos;
}

int sweep(const CLI::App& app, const TrainFlags& flags, int argc, char** argv) {
  refuse_what_is_for_one(app, flags);
  Options options = flags.options;
  options.command = typed(command_of(train_lesson), argc, argv);
  std::vector<Cell> cells = cells_of(flags, std::vector<std::string>(argv, argv + argc));
  {
    Lab lab(train_lesson, options);
    if (data::names_folder(options.data)) lab.say("Data: " + data::describe(lab.data()));
    look_at_all(lab, cells);
    lab.say(cells[0].plan.question);
    lab.say(overview_of(flags, cells));
    const InterruptNote interrupt;
    if (!train_all(lab, cells)) return tell_stopped(cells, options.command);
  }
  return compare_cells(cells, options);
}

}  // namespace tinymp::lab
