#include <tinymp/train/atomic_file.h>
#include <tinymp/train/run_state.h>
#include <algorithm>
#include <filesystem>

namespace tinymp::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view newest = "checkpoint.safetensors", kept = "checkpoint-", ending = ".safetensors";

bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

/// checkpoint-300.safetensors -> 300; -1 for any other name.
std::int64_t step_in(const std::string& name) {
  if (!name.starts_with(kept) || !name.ends_with(ending)) return -1;
  const std::string digits = name.substr(kept.size(), name.size() - kept.size() - ending.size());
  const bool whole = !digits.empty() && digits.size() < 19 &&
                     std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return whole ? std::stoll(digits) : -1;
}

/// The steps of the checkpoints that stay in a folder, the last first.
std::vector<std::int64_t> kept_steps(const fs::path& folder) {
  std::vector<std::int64_t> steps;
  std::error_code failed;
  for (fs::directory_iterator i(folder.empty() ? "." : folder, failed), end; !failed && i != end;
       i.increment(failed))
    if (const std::int64_t step = step_in(i->path().filename().string()); step >= 0) steps.push_back(step);
  std::ranges::sort(steps, std::greater<>());
  return steps;
}

/// The checkpoint to go on from; empty when the run was interrupted before its first one.
std::string checkpoint_of(const Plan& plan) {
  std::error_code unknown;
  const fs::path named(plan.resume);
  expect(is_there(named), "cannot go on with ", plan.resume, ": there is no such run");
  if (!fs::is_directory(named, unknown)) return plan.resume;
  return checkpoint_in(plan.resume);
}

/// The log must be that of the plan: what its header tells of the bits.
void expect_same_header(const std::string& path, const RunHeader& there, const RunHeader& here) {
  const auto expect_same = [&](const char* what, const auto& a, const auto& b) {
    expect(a == b, "cannot go on with the run log ", path, ": it is of another run: its ", what, " is ", a,
           ", and here it is ", b);
  };
  expect_same("model", there.model, here.model);
  expect_same("recipe", describe(there.recipe), describe(here.recipe));
  expect(there.recipe == here.recipe, "cannot go on with the run log ", path,
         ": its recipe has other numbers than the one here");
  expect_same("data set", there.data, here.data);
  expect_same("optimizer", there.optimizer, here.optimizer);
  expect_same("seed", there.seed, here.seed);
  expect_same("number of steps", there.steps, here.steps);
  expect_same("batch", there.batch, here.batch);
  expect_same("number of micro-batches", there.micro_batches, here.micro_batches);
}

/// Begins a new log.
RunStart begin_first(const Plan& plan, const std::string& log_path, const nn::Model& model) {
  RunStart start{.recorded = {log_path, header_of(plan, model), {}, {}}};
  start.log.emplace(log_path, start.recorded.header);
  start.recorded.header = start.log->header();
  return start;
}

/// Begins anew with the log of a run that was interrupted before its first checkpoint. The log keeps its header.
RunStart begin_again(const Plan& plan, HeldLog held, const std::string& log_path, const nn::Model& model) {
  RunStart start{.recorded = load_run(log_path)};
  expect_same_header(log_path, start.recorded.header, header_of(plan, model));
  expect(!start.recorded.result, "cannot go on with the run log ", log_path,
         ": the run is finished, and there is no checkpoint beside it");
  start.log.emplace(std::move(held), std::int64_t{0}, std::int64_t{0});
  start.recorded = load_run(log_path);
  return start;
}

/// True for a run that has its result and its last checkpoint: nothing is left to do, nor to write.
bool is_finished(const Plan& plan, const std::string& checkpoint, const std::string& log_path) {
  if (checkpoint.empty() || step_of_checkpoint(checkpoint) != plan.steps) return false;
  try {
    return load_run(log_path).result.has_value();
  } catch (const Error&) {
    return false;  // going on mends a log whose end is damaged
  }
}

/// Removes all kept checkpoints up to `step` but the last `keep`.
void remove_oldest(const fs::path& folder, std::int64_t step, std::int64_t keep) {
  std::vector<std::int64_t> steps = kept_steps(folder);
  std::erase_if(steps, [&](std::int64_t later) { return later > step; });
  std::error_code failed;
  for (std::size_t i = static_cast<std::size_t>(keep); i < steps.size(); ++i)
    fs::remove(folder / concat(kept, steps[i], ending), failed);
}

}  // namespace

std::string checkpoint_in(const std::string& folder) {
  const fs::path path(folder);
  if (is_there(path / newest)) return (path / newest).string();
  const std::vector<std::int64_t> copies = kept_steps(path);
  return copies.empty() ? std::string() : (path / concat(kept, copies.front(), ending)).string();
}

std::string checkpoint_beside(const std::string& log_path) {
  return (fs::path(log_path).parent_path() / newest).string();
}

std::string checkpoint_beside(const std::string& log_path, std::int64_t step) {
  return (fs::path(log_path).parent_path() / concat(kept, step, ending)).string();
}

RunStart begin_run(const Plan& plan, const std::string& log_path, const nn::Model& model,
                   Optimizer& optimizer, LossScaler& scaler, const Float8Products& products,
                   data::Loader& loader) {
  if (plan.resume.empty()) return begin_first(plan, log_path, model);
  std::optional<HeldLog> held;
  if (const std::string path = checkpoint_of(plan); !is_finished(plan, path, log_path)) {
    if (path.empty() && !is_there(log_path)) return begin_first(plan, log_path, model);
    held.emplace(log_path);
  }
  const std::string path = checkpoint_of(plan);  // now that no other program can save a later one
  if (path.empty() && held) return begin_again(plan, std::move(*held), log_path, model);
  Checkpoint from = checkpoint_from(load_safetensors(path), path,
                                    {plan, model, optimizer, products, optimizer.learning_rate()});
  // A disk that lost power may have left anything behind the lines that the checkpoint waited for.
  RunStart start{.recorded = load_run(log_path, held ? from.log_lines : all_lines),
                 .step = from.moment.step,
                 .counts = from.counts};
  expect_same_header(log_path, start.recorded.header, header_of(plan, model));
  restore(from.moment, model, optimizer, scaler, products, loader);
  start.finder = std::move(from.finder);
  if (!held) return start;
  start.log.emplace(std::move(*held), from.log_lines, start.step);
  start.recorded = load_run(log_path);
  return start;
}

void save_run(const std::string& log_path, const CheckpointOwner& owner, const Checkpoint& checkpoint) {
  const std::string bytes = safetensors_bytes(contents_of(checkpoint, owner));
  const std::int64_t step = checkpoint.moment.step;
  // The copy first: a run that goes on from the newest has all copies up to it.
  if (owner.plan.keep > 0) write_atomically("the checkpoint", checkpoint_beside(log_path, step), bytes);
  write_atomically("the checkpoint", checkpoint_beside(log_path), bytes);
  if (owner.plan.keep > 0) remove_oldest(fs::path(log_path).parent_path(), step, owner.plan.keep);
}

}  // namespace tinymp::train
