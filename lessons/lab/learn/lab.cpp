#include <unistd.h>

#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/lab.h>
#include <lessons/lab/learn/lab_state.h>
#include <lessons/lab/learn/results.h>
#include <lessons/lab/learn/run_progress.h>
#include <lessons/lab/learn/words.h>
#include <tinymp/base/device.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/train/provenance.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <iostream>

// Data, log files, training. What happens to the results is in lab_report.cpp.
namespace tinymp::lab {
namespace {

/// "FP16, S = 1" -> "fp16-s-1": a file name that needs no quotes in a shell.
std::string file_name(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 128 && std::isalnum(byte) != 0) {
      text += static_cast<char>(std::tolower(byte));
    } else if (!text.empty() && text.back() != '-') {
      text += '-';
    }
  }
  while (!text.empty() && text.back() == '-') text.pop_back();
  return text.empty() ? "run" : text.substr(0, 100);
}

}  // namespace

Lab::Impl::~Impl() {
  // A run that failed before its first line leaves nothing behind. remove() takes away empty folders only.
  std::error_code ignored;
  if (folder.empty() || !std::filesystem::remove(folder, ignored)) return;
  if (made_out) std::filesystem::remove(out, ignored);
}

Lab::Lab(const Lesson& lesson, Options options)
    : options_(std::move(options)), impl_(std::make_shared<Impl>()) {
  if (options_.graph && device() != Device::cuda)
    throw UsageError("--graph needs --device cuda: the CPU has no graphs");
  allocator(device());  // says so when there is none
  if (options_.verify && !options_.smoke && options_.data.empty()) options_.data = lesson.data[0];
  if (!options_.results.empty()) expect_writable(options_.results);
  if (options_.threads > 0) set_threads(options_.threads);
  impl_->lesson = lesson;
  impl_->out = options_.out;
  if (options_.command.empty()) options_.command = command_of(lesson);
  impl_->style = report::terminal_style(STDOUT_FILENO, options_.plain);
  if (options_.live) impl_->live = std::make_unique<report::LiveCurves>(stderr, options_.plain);
}

std::vector<std::uint64_t> Lab::seeds() const {
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < options_.seeds; ++i)
    seeds.push_back(options_.first_seed + static_cast<std::uint64_t>(i));
  return seeds;
}

std::string Lab::marked(const std::string& name) const {
  const std::string mine = train::learner_pieces(train::pieces());
  const std::string text = mine.empty() ? name : concat(name, " (YOURS: ", mine, ")");
  return sabotaged() ? concat(text, " (sabotaged: ", options_.sabotage, ")") : text;
}

void Lab::Impl::make_folder() {
  if (!folder.empty()) return;
  std::error_code ignored;
  made_out = !std::filesystem::exists(out, ignored);
  folder = train::new_run_folder(out, lesson.name);
}

report::LiveCurves* Lab::live() const { return impl_->live.get(); }

std::string Lab::log_path(const std::string& name, std::uint64_t seed) {
  impl_->make_folder();
  const std::string stem = concat(impl_->folder, "/", file_name(name), "-seed", seed);
  std::string path = stem + ".jsonl";
  for (int i = 2; !impl_->paths.insert(path).second; ++i) path = concat(stem, "-", i, ".jsonl");
  return path;
}

train::Run Lab::Impl::run(train::Plan plan, const std::string& path, const Options& options,
                          std::unique_ptr<nn::Model>* keep) {
  std::cout.flush();
  const bool terminal = isatty(STDERR_FILENO) == 1;
  if (terminal && options.seeds > 1 && last_seed != plan.seed) std::cerr << "Seed " << plan.seed << "\n";
  last_seed = plan.seed;
  print_waiting();
  const train::RunHeader header{.question = plan.question,
                                .name = plan.name,
                                .recipe = plan.recipe,
                                .seed = plan.seed,
                                .optimizer = plan.optimizer_name,
                                .steps = plan.steps,
                                .batch = plan.batch,
                                .micro_batches = plan.micro_batches};
  RunProgress progress(header, path, options, live.get(), bool(plan.stop));
  train::Run run = train::run(
      plan, path, [&](const train::Plan&, const train::LogRecord& step) { progress.update(step); }, keep);
  progress.finish();
  progress.tell(run);
  return run;
}

train::Plan Lab::complete(train::Plan plan) {
  if (plan.data == nullptr && !reads_text(impl_->lesson) && !plan.text) plan.data = &data();
  plan.lesson = impl_->lesson.name;
  plan.command = options_.command;
  plan.device = device();
  plan.graph = options_.graph;
  plan.name = marked(plan.name);
  return plan;
}

train::Run Lab::train(train::Plan plan, std::unique_ptr<nn::Model>* keep) {
  plan = complete(std::move(plan));
  const bool in_chapter = std::isdigit(static_cast<unsigned char>(*impl_->lesson.name)) != 0;
  if (in_chapter && plan.question != impl_->last_question) {
    impl_->print_waiting();
    std::cerr << "\n" << fitted_for_errors(plan.question) << "\n";  // where the runs are told
  }
  impl_->last_question = plan.question;
  const std::string path = log_path(plan.name, plan.seed);
  add(impl_->run(std::move(plan), path, options_, keep));
  return impl_->runs.back();
}

train::Run Lab::go_on(train::Plan plan, const std::string& log) {
  plan = complete(std::move(plan));
  impl_->folder = std::filesystem::path(log).parent_path().string();
  if (impl_->folder.empty()) impl_->folder = ".";
  impl_->paths.insert(log);
  add(impl_->run(std::move(plan), log, options_, nullptr));
  return impl_->runs.back();
}

train::Run Lab::train_apart(train::Plan plan, const std::string& log) {
  return impl_->run(std::move(plan), log, options_, nullptr);
}

std::unique_ptr<nn::Model> Lab::prepare(train::Plan plan) {
  plan = complete(std::move(plan));
  const std::string path = log_path(plan.name, plan.seed);
  std::unique_ptr<nn::Model> model;
  impl_->run(std::move(plan), path, options_, &model);
  return model;
}

void Lab::look(report::RunsView view) { impl_->view = std::move(view); }

void Lab::add(train::Run run) { impl_->runs.push_back(std::move(run)); }

std::vector<const train::Run*> Lab::runs(std::string_view question, std::string_view name) const {
  std::vector<const train::Run*> found;
  const std::string wanted = marked(std::string(name));
  for (const train::Run& run : impl_->runs) {
    if (run.header.question == question && run.header.name == wanted) found.push_back(&run);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const train::Run* a, const train::Run* b) { return a->header.seed < b->header.seed; });
  return found;
}

std::vector<double> Lab::results(std::string_view question, std::string_view name) const {
  std::vector<double> values;
  for (const train::Run* run : runs(question, name)) {
    values.push_back(run->result ? run->result->value : train::not_measured);
  }
  return values;
}

std::vector<double> Lab::logged(std::string_view question, std::string_view name,
                                const std::function<double(const train::LogRecord&)>& value) const {
  std::vector<double> values;
  for (const train::Run* run : runs(question, name)) {
    for (const train::LogRecord& step : run->steps) {
      if (const double found = value(step); !std::isnan(found)) values.push_back(found);
    }
  }
  return values;
}

bool Lab::ends_in_nan(std::string_view question, std::string_view name) const {
  const std::vector<double> values = results(question, name);
  return !values.empty() && std::ranges::all_of(values, [](double value) { return std::isnan(value); });
}

}  // namespace tinymp::lab
