#include <fmt/format.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/sweep_cells.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/train/provenance.h>
#include <tinymp/train/run_state.h>
#include <algorithm>
#include <filesystem>

namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

Cell cell_of(const TrainFlags& flags, const std::vector<std::string>& rest, const std::string& recipe,
             const std::string& lr, std::uint64_t seed) {
  Cell cell{.name = recipe + (lr.empty() ? "" : "-lr" + lr) + concat("-s", seed),
            .folder = {},
            .log = {},
            .command = {},
            .typed = {},
            .plan = {}};
  cell.folder = (fs::path(flags.options.out) / cell.name).string();
  cell.log = (fs::path(cell.folder) / concat(recipe, "-seed", seed, ".jsonl")).string();
  std::vector<std::string> words{"train", "--recipe", recipe};
  if (!lr.empty()) words.insert(words.end(), {"--lr", lr});
  words.insert(words.end(), {"--seed", concat(seed)});
  words.insert(words.end(), rest.begin() + 1, rest.end());
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  cell.command = typed(command_of(train_lesson), static_cast<int>(arguments.size()), arguments.data());
  try {
    cell.typed = std::make_unique<TypedCommand>(words);
    cell.plan = plan_from(*cell.typed->app, cell.typed->flags);
  } catch (const UsageError& error) {
    throw UsageError(concat("the cell ", cell.name, ": ", error.what()));
  }
  return cell;
}

/// The one log in a folder; empty where there is none.
std::string log_in(const std::string& folder) {
  std::vector<std::string> logs;
  std::error_code failed;
  for (fs::directory_iterator i(folder, failed), end; !failed && i != end; i.increment(failed))
    if (i->path().extension() == ".jsonl") logs.push_back(i->path().string());
  if (logs.size() > 1)
    throw UsageError(concat(folder,
                            " has several logs, and a cell of a sweep has one; train elsewhere: "
                            "--out DIR"));
  return logs.empty() ? "" : logs.front();
}

/// Refuses what differs, in words.
struct Same {
  const Cell& cell;
  template <class T>
  void operator()(const char* what, const T& there, const T& here) const {
    if (there == here) return;
    throw UsageError(concat(cell.folder, " was recorded by another request: its ", what, " is ",
                            excerpt(concat(there), 100), ", and here it is ", excerpt(concat(here), 100),
                            "; move it away, or train elsewhere: --out DIR"));
  }
};

/// What the header of a log tells of the run.
void expect_same_header(const Cell& cell, const train::RunHeader& there) {
  Rng rng(cell.plan.seed);
  const train::RunHeader here = train::header_of(cell.plan, *cell.plan.model(cell.plan.recipe, rng));
  const Same same{cell};
  same("number of steps", there.steps, here.steps);
  same("model", there.model, here.model);
  same("data set", there.data, here.data);
  same("optimizer", there.optimizer, here.optimizer);
  same("batch", there.batch, here.batch);
  same("number of micro-batches", there.micro_batches, here.micro_batches);
  same("seed", there.seed, here.seed);
  same("recipe", describe(there.recipe), describe(here.recipe));
  if (!(there.recipe == here.recipe))
    same("recipe", concat(describe(there.recipe), " with other numbers"), describe(here.recipe));
  const auto pieces = [](const std::string& all) { return all.empty() ? std::string("none") : all; };
  same("list of your pieces", pieces(train::learner_pieces(there.pieces)),
       pieces(train::learner_pieces(train::pieces())));
}

std::string yes_or_no(bool yes) { return yes ? "on" : "off"; }

std::string weights_from(const ResumeFlags& flags) {
  return flags.weights_only ? flags.resume : std::string("new weights");
}

/// What is in the command alone.
void expect_same_command(const Cell& cell, const std::string& command) {
  const auto there = [&] {
    try {
      return std::make_unique<TypedCommand>(arguments_of(command));
    } catch (const UsageError&) {
      throw UsageError(concat(cell.folder, " was recorded by another program or version: ",
                              excerpt(command, 200), "; move it away, or train elsewhere: --out DIR"));
    }
  }();
  const train::Plan plan = plan_from(*there->app, there->flags);
  const Same same{cell};
  same("--augment", yes_or_no(plan.pixels.crop_and_flip), yes_or_no(cell.plan.pixels.crop_and_flip));
  same("--log-every", plan.log_every, cell.plan.log_every);
  same("--validate-every", plan.validate_every, cell.plan.validate_every);
  same("--shadow-every", there->flags.shadow_every, cell.typed->flags.shadow_every);
  same("beginning", weights_from(there->flags.resume), weights_from(cell.typed->flags.resume));
}

}  // namespace

std::vector<std::string> parts_of_list(const std::string& flag, const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    if (part->empty())
      throw UsageError(concat(flag, " ", excerpt(list), ": a name is missing beside a comma"));
    if (std::find(parts.begin(), part, *part) != part)
      throw UsageError(concat(flag, " ", excerpt(list), ": ", excerpt(*part), " stands there twice"));
  }
  return parts;
}

std::string text_of_lr(float lr) { return fmt::format("{}", lr + 0.0f); }  // -0 is 0

std::vector<std::string> without_options(const std::vector<std::string>& words,
                                         const std::vector<std::string>& options,
                                         const std::vector<std::string>& switches) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (std::ranges::find(switches, words[i]) != switches.end()) continue;
    if (std::ranges::find(options, name) == options.end())
      rest.push_back(words[i]);
    else if (name == words[i])
      ++i;  // its value
  }
  return rest;
}

std::vector<Cell> cells_of(const TrainFlags& flags, const std::vector<std::string>& words) {
  const std::vector<std::string> rest =
      without_options(words, {"--recipe", "--lr", "--seed", "--seeds"}, {"--open", "--plain", "--live"});
  std::vector<std::string> rates;
  for (const float lr : flags.lr) rates.push_back(text_of_lr(lr));
  if (rates.empty())
    rates.emplace_back();
  else
    parts_of_list("--lr", fmt::format("{}", fmt::join(rates, ",")));
  const std::vector<std::string> recipes = parts_of_list("--recipe", flags.recipe.recipe);
  const auto seeds = static_cast<std::uint64_t>(std::max<std::int64_t>(1, flags.seeds));
  constexpr std::size_t most_cells = 10'000;  // as many runs as ./learn compare reads
  if (recipes.size() * rates.size() > most_cells / seeds)
    throw UsageError(concat(recipes.size(), " recipes x ", rates.size(), " learning rates x ", seeds,
                            " seeds are more than ", most_cells, " runs; sweep over fewer"));
  std::vector<Cell> cells;
  for (std::uint64_t i = 0; i < seeds; ++i)
    for (const std::string& lr : rates)
      for (const std::string& recipe : recipes)
        cells.push_back(cell_of(flags, rest, recipe, lr, flags.options.first_seed + i));
  return cells;
}

void look_at(Cell& cell) {
  std::error_code unknown;
  if (!fs::exists(cell.folder, unknown)) return;
  if (!fs::is_directory(cell.folder, unknown))
    throw UsageError(concat(cell.folder, " is no folder; train elsewhere: --out DIR"));
  const std::string log = log_in(cell.folder);
  if (log.empty()) return;
  if (train::is_being_written(log))
    throw UsageError(concat(log,
                            ": another program is training this cell; wait for it, or train elsewhere: "
                            "--out DIR"));
  train::Run run = [&] {
    try {
      return train::load_run(log);
    } catch (const Error& error) {
      if (!train::checkpoint_in(cell.folder).empty())
        return train::load_run(log, 0);  // going on mends its end
      throw Error(concat("the cell ", cell.name, ": ", error.what(),
                         "; move its folder away, and the sweep trains it again"));
    }
  }();
  expect_same_header(cell, run.header);
  expect_same_command(cell, run.header.command);
  cell.log = log;
  if (!run.result) cell.plan.resume = cell.folder;
  cell.recorded = std::move(run);
}

}  // namespace tinymp::lab
