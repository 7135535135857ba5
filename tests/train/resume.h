#pragma once

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tests/train/faults.h>
#include <tests/train/python.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/train/run_state.h>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

/// Runs that stop and go on, compared with a run that was never stopped.
namespace tinymp::test {

namespace fs = std::filesystem;

/// The lines of a log without what may differ: the date, the seconds, the ranks, and the bytes, which depend on the threads.
inline std::vector<std::string> log_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    auto json = nlohmann::ordered_json::parse(line);
    json.erase("date");
    json.erase("seconds");
    json.erase("ranks");
    if (json.contains("result"))
      for (const char* const measured : {"seconds", "peak_bytes", "peak_without_scratch", "memory"})
        json["result"].erase(measured);
    lines.push_back(json.dump());
  }
  return lines;
}

/// All checkpoints in a folder by name, with their bytes.
inline std::map<std::string, std::string> checkpoints_in(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() != ".jsonl")
      all[entry.path().filename().string()] = text_of(entry.path().string());
  return all;
}

/// A run in a folder of its own.
struct OwnRun {
  files::Folder folder;
  std::string log() const { return folder / "run.jsonl"; }
  std::string newest() const { return folder / "checkpoint.safetensors"; }
};

/// The folder of a run, as it lay on disk after some step.
inline void copy_run(const OwnRun& from, const OwnRun& to) {
  fs::copy(from.folder.path, to.folder.path,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

inline std::vector<std::uint64_t> bits_of(const nn::Model& model) {
  std::vector<std::uint64_t> bits;
  for (const Tensor& p : tensors(model.parameters()))
    for (const double v : p.to_doubles()) bits.push_back(std::bit_cast<std::uint64_t>(v));
  for (const Tensor& b : model.buffers())
    for (const double v : b.to_doubles()) bits.push_back(std::bit_cast<std::uint64_t>(v));
  return bits;
}

/// What a run leaves.
struct Outcome {
  std::vector<std::string> log;
  std::map<std::string, std::string> checkpoints;
  std::vector<std::uint64_t> weights;
};

inline Outcome finish_in(const Plan& plan, const fs::path& folder) {
  const std::string log = (folder / "run.jsonl").string();
  std::unique_ptr<nn::Model> model;
  const Run recorded = train::run(plan, log, {}, &model);
  CHECK(recorded.result.has_value());
  const Run read = train::load_run(log);
  CHECK(recorded.steps.size() == read.steps.size());
  CHECK(recorded.findings.size() == read.findings.size());
  CHECK(recorded.sizes.size() == read.sizes.size());
  return {log_of(log), checkpoints_in(folder), bits_of(*model)};
}
inline Outcome finish(const Plan& plan, const OwnRun& run) { return finish_in(plan, run.folder.path); }

/// Log and checkpoints are whole; a .part is read by nothing and written over by the next.
inline void check_readable(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    INFO(path);
    if (path.ends_with(".jsonl"))
      CHECK(message_of([&] { static_cast<void>(train::load_run(path)); }) == "(nothing was thrown)");
    if (path.ends_with(".safetensors"))
      CHECK(message_of([&] { static_cast<void>(train::load_safetensors(path)); }) == "(nothing was thrown)");
  }
}

inline void check_same(const Outcome& a, const Outcome& b) {
  CHECK(a.log == b.log);
  CHECK(a.weights == b.weights);
  CHECK(a.checkpoints.size() == b.checkpoints.size());
  for (const auto& [name, bytes] : a.checkpoints) {
    INFO(name);
    CHECK((b.checkpoints.contains(name) && b.checkpoints.at(name) == bytes));
  }
}

/// Stops a run after each of the steps, as if it were killed there (the files are copied) and by plan.stop, and
/// lets it go on. All must end like the run that never stopped. Returns that one.
inline Outcome check_resumes(Plan plan, const std::vector<std::int64_t>& stops) {
  std::map<std::int64_t, OwnRun> killed;
  for (const std::int64_t t : stops) killed[t];
  const OwnRun whole;
  std::int64_t step = 0;
  Plan watched = plan;
  watched.stop = [&] {  // asked after each step, when neither its log line nor its checkpoint is written
    if (killed.contains(++step)) copy_run(whole, killed[step]);
    return false;
  };
  const Outcome expected = finish(watched, whole);
  for (const std::int64_t t : stops) {
    INFO("killed in step " << t);
    Plan resumed = plan;
    resumed.resume = killed[t].folder.path.string();
    check_same(expected, finish(resumed, killed[t]));
  }
  for (const std::int64_t t : stops) {
    INFO("stopped after step " << t);
    const OwnRun run;
    Plan stopped = plan;
    stopped.stop = [&, now = std::int64_t{0}]() mutable { return ++now == t; };
    const Run first = train::run(stopped, run.log());
    CHECK_FALSE(first.result.has_value());
    CHECK_FALSE(train::load_run(run.log()).result.has_value());
    Plan resumed = plan;
    resumed.resume = run.folder.path.string();
    check_same(expected, finish(resumed, run));
  }
  return expected;
}

/// A small plan that saves every other step.
inline Plan saving_plan(const data::Split& data, const Recipe& recipe, std::int64_t steps = 7) {
  Plan plan = small_plan(data, recipe, steps);
  plan.batch = 40;  // two batches an epoch: each stop is in another epoch
  plan.log_every = 3;
  plan.saves = true;
  plan.save_every = 2;
  return plan;
}

template <class T>
train::OptimizerMaker made(const typename T::Options& options) {
  return train::optimizer_of<T>(options);
}

}  // namespace tinymp::test
