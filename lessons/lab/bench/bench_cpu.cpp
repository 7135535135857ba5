#include <unistd.h>

#include <kernels/cuda/executor.h>
#include <lessons/lab/bench/cpu_gemm.h>
#include <lessons/lab/bench/cpu_machine.h>
#include <lessons/lab/bench/gemm.h>
#include <lessons/lab/bench/measure.h>
#include <lessons/lab/bench/ranks.h>
#include <lessons/lab/bench/steps.h>
#include <lessons/lab/bench/telemetry.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/report/write_file.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/train/run_log.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>

// ./learn bench, and its measurements on this CPU: cpu-gemm, steps, telemetry.
namespace tinymp::lab {
namespace {

using namespace kernels;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct CpuFlags {
  std::string out;
  std::vector<std::string> models;
  int threads = 0;
  bool plain = false, quick = false, profile = false;
  std::string device = "cpu", recipe;

  bench::RaceRules rules() const { return quick ? bench::RaceRules::quick() : bench::RaceRules{}; }
};

/// Throws Error when `path` cannot be written: now, and not in minutes. Leaves an existing file as it is.
void expect_writable(const std::string& path) {
  std::error_code fault;
  const bool is_there = fs::exists(path, fault);
  expect(std::ofstream(path, std::ios::app).good(), "cannot write ", path,
         "; --out takes a file in a folder that is there and may be written to");
  if (!is_there) fs::remove(path, fault);
}

/// The measurements of one command. Tables go to the terminal at once, figures are kept for --out.
class Session {
 public:
  Session(const CpuFlags& flags, std::string command)
      : flags_(flags),
        device_(device_from_name(flags.device)),
        style_(report::terminal_style(STDOUT_FILENO, flags.plain)),
        json_{{"command", command}} {
    json_["machine"] = bench::cpu_machine();
    std::cout << bench::cpu_headline() << "\n";
    if (device_ == Device::cuda) {
      json_["machine"]["device"] = executor_name();
      std::cout << "Training steps on " << executor_name()
                << (executor() == Executor::emulation ? ": these times mean nothing\n" : "\n");
    }
    const std::string warning = bench::busy_warning();
    if (!warning.empty()) std::cout << warning << "\n";
    std::cout << std::flush;
    if (!flags_.out.empty()) expect_writable(flags_.out);  // an error comes now, not in minutes
  }

  void cpu_gemm() {
    const bench::CpuGemmReport report =
        bench::bench_cpu_gemm(openblas(), pytorch(Device::cpu), flags_.rules(), flags_.quick, progress());
    show("Matrix products", report.table(), report.notes());
    keep("cpu-gemm", report.json());
    good_ = good_ && report.good();
  }

  void steps() {
    const std::vector<const bench::StepModel*> models = chosen();
    const bench::StepsReport report =
        bench::bench_steps(pytorch(device_), models, device_, flags_.rules(), progress());
    std::string notes = report.notes();
    if (!report.fault.empty()) notes = concat("FAILED: ", report.fault, "\n", notes);
    if (device_ == Device::cuda && executor() == Executor::emulation) {
      const std::string mark = bench::untested_mark(TINYMP_BENCH_RESULTS, "speed");
      if (!mark.empty()) notes = concat(mark, ".\n", notes);
    }
    show("Training steps", report.table(), notes);
    keep("steps", report.json());
    good_ = good_ && report.fault.empty();
  }

  void profile() {
    if (device_ == Device::cuda)
      std::cout
          << "Times of kernels are those in which the CPU hands them over; the GPU is not waited for.\n";
    Json profiles = Json::array();
    for (const bench::StepModel* model : chosen()) {
      for (const bench::StepRecipe& recipe : bench::step_recipes()) {
        if (!flags_.recipe.empty() && flags_.recipe != recipe.name) continue;
        const bench::StepProfile profile =
            bench::profile_steps(*model, recipe, device_, flags_.quick ? 0.01 : 1);
        show(concat(model->what, ", batch ", model->batch, ", ", recipe.name), profile.table(), "");
        profiles.push_back(profile.json());
      }
      keep("profiles", profiles);
      save();  // whoever ends this early keeps the models so far
    }
  }

  void telemetry() {
    progress()("telemetry");
    const bench::Telemetry telemetry =
        flags_.quick ? bench::bench_telemetry(1, 4) : bench::bench_telemetry(15, 500);
    show("Telemetry", telemetry.table(), telemetry.notes());
    keep("telemetry", telemetry.json());
  }

  void ranks() {
    const bench::RanksReport report = bench::bench_ranks(flags_.quick, progress());
    show("Several processes", report.table(), report.notes());
    keep("ranks", report.json());
  }

  /// The exit code.
  int finish() {
    save();
    return good_ ? 0 : 1;
  }
  /// Writes the figures so far, if there are any.
  void save() {
    if (flags_.out.empty() || !json_.contains("parts")) return;
    json_["machine"]["load_at_end"] = bench::cpu_machine()["load"];
    write_json(flags_.out, json_);
  }

 private:
  bench::Progress progress() const {
    return [watched = isatty(STDERR_FILENO) != 0](const std::string& next) {
      if (watched) std::cerr << next << "\n";
    };
  }
  const bench::OpenBlas& openblas() {
    if (!openblas_) openblas_ = std::make_unique<bench::OpenBlas>(threads());
    return *openblas_;
  }
  bench::PyTorch& pytorch(Device device) {
    std::unique_ptr<bench::PyTorch>& there = device == Device::cpu ? pytorch_ : pytorch_on_gpu_;
    if (!there) {
      progress()("looking for PyTorch");
      there = std::make_unique<bench::PyTorch>(threads(), device);
    }
    return *there;
  }
  std::vector<const bench::StepModel*> chosen() const {
    std::vector<const bench::StepModel*> models;
    const auto named = [&](const bench::StepModel& model) {
      return std::ranges::find(flags_.models, model.name) != flags_.models.end();
    };
    for (const bench::StepModel& model : bench::step_models())
      if (flags_.models.empty() || named(model)) models.push_back(&model);
    const bool on_gpu = device_ == Device::cuda && executor() != Executor::emulation;
    for (const bench::StepModel& model : bench::gpu_step_models())
      if ((flags_.models.empty() && on_gpu) || named(model)) models.push_back(&model);
    return models;
  }
  void show(const std::string& title, const report::Table& table, const std::string& notes) const {
    std::cout << "\n" << title << "\n\n" << report::format_table(table, style_);
    if (!notes.empty()) std::cout << "\n" << notes;
    std::cout << std::flush;
  }
  void keep(const char* name, Json json) { json_["parts"][name] = std::move(json); }

  const CpuFlags& flags_;
  Device device_;  ///< of training steps
  report::TerminalStyle style_;
  Json json_;
  bool good_ = true;
  std::unique_ptr<bench::OpenBlas> openblas_;
  std::unique_ptr<bench::PyTorch> pytorch_, pytorch_on_gpu_;
};

constexpr const char* all = "./learn bench";
constexpr const char* about_all =
    "Without a NAME all that is measured on this CPU, in a few minutes: cpu-gemm, steps, telemetry.\n"
    "Each has options of its own: ./learn bench NAME --help.\n\n"
    "  cpu-gemm    matrix products in each format, beside OpenBLAS, PyTorch and the processor's peak\n"
    "  steps       training steps a second in FP32, FP16 and BF16, beside PyTorch\n"
    "  telemetry   what the log and its meters cost a training run\n"
    "  ranks       training with one process and with two, over MPI; not part of ./learn bench alone\n"
    "  micro       kernel by kernel, with Google Benchmark, whose options go behind --\n"
    "  gemm        on an NVIDIA GPU: every rung of the ladder of matrix products, beside cuBLAS\n";

void add_flags(CLI::App& app, CpuFlags& flags, bool with_models) {
  if (with_models) {
    std::vector<std::string> names;
    for (const bench::StepModel& model : bench::step_models()) names.emplace_back(model.name);
    std::string list, more;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    for (const bench::StepModel& model : bench::gpu_step_models()) {
      names.emplace_back(model.name);
      more += concat(more.empty() ? "" : ", ", model.name);
    }
    app.add_option("--model", flags.models,
                   concat("One of ", list, "; more with commas (all); or, for GPUs, one of ", more,
                          " (all on a GPU)"))
        ->type_name("NAME")
        ->delimiter(',')
        ->check(CLI::IsMember(names).description(""));
    app.add_option("--device", flags.device, "Of training steps: cpu, or cuda, an NVIDIA GPU (cpu)")
        ->type_name("NAME")
        ->check(CLI::IsMember({"cpu", "cuda"}).description(""));
    std::vector<std::string> recipes;
    for (const bench::StepRecipe& recipe : bench::step_recipes()) recipes.emplace_back(recipe.name);
    CLI::Option* const recipe =
        app.add_option("--recipe", flags.recipe, "With --profile: in this format alone")
            ->type_name("NAME")
            ->check(CLI::IsMember(recipes).description(""));
    CLI::Option* const profile =
        app.add_flag("--profile", flags.profile,
                     "No race, but where the time of a step goes: calls and time of each kernel");
    recipe->needs(profile);
  }
  app.add_option("--threads", flags.threads, "Of ours, of OpenBLAS and of PyTorch (all cores)")
      ->type_name("N")
      ->check(whole(1, 1024));
  app.add_option("--out", flags.out, "Write the figures as JSON, with machine, compiler, date, commit")
      ->type_name("FILE");
  app.add_flag("--quick", flags.quick,
               "Seconds instead of minutes, to see that it works: the figures mean little");
  app.add_flag("--plain", flags.plain, "ASCII only, no colour");
  app.footer(
      "All contenders take turns; medians are compared. PyTorch runs in Python: TINYMP_PYTHON, else python3 "
      "or\n"
      "python. OpenBLAS is TINYMP_OPENBLAS (a file), else what the loader finds. Both may be missing.");
}

int measured(int argc, char** argv, const char* about, const std::string& command, bool with_models,
             const std::function<void(Session&, const CpuFlags&)>& work) {
  CpuFlags flags;
  CLI::App app(about, command == all ? command + " [NAME]" : command);
  add_flags(app, flags, with_models);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  if (flags.threads > 0) set_threads(flags.threads);
  Session session(flags, typed(command, argc, argv));
  try {
    work(session, flags);
  } catch (const Error&) {
    session.save();
    throw;
  }
  return session.finish();
}

}  // namespace

void write_json(const std::string& path, const Json& json) {
  report::write_whole(path, json.dump(2) + "\n", "the figures", "--out FILE");
}

int bench_all(int argc, char** argv) {
  return measured(argc, argv, about_all, all, true, [](Session& session, const CpuFlags& flags) {
    if (flags.profile) return session.profile();
    session.cpu_gemm();
    session.steps();
    session.telemetry();
  });
}

int bench_cpu_gemm(int argc, char** argv) {
  return measured(
      argc, argv,
      "Our matrix product on this CPU, format by format, beside OpenBLAS, PyTorch and the most that "
      "the processor can do.",
      "./learn bench cpu-gemm", false, [](Session& session, const CpuFlags&) { session.cpu_gemm(); });
}

int bench_steps(int argc, char** argv) {
  return measured(argc, argv, "Training steps a second in FP32, FP16 and BF16, beside PyTorch.",
                  "./learn bench steps", true, [](Session& session, const CpuFlags& flags) {
                    flags.profile ? session.profile() : session.steps();
                  });
}

int bench_ranks(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "--case") {  // a process of a case, which this command has started
    const bench::RanksFigures figures =
        bench::measure_ranks(bench::case_from({words.begin() + 1, words.end()}));
    if (figures.rank > 0) return 0;
    std::cout << Json{{"seconds", figures.seconds}, {"waits", figures.waits}, {"bytes", figures.bytes}}.dump()
              << std::endl;
    return 0;
  }
  return measured(
      argc, argv,
      "Training with one process and with two on the same cores: strong and weak scaling, and the "
      "share of a step on the wire.",
      "./learn bench ranks", false, [](Session& session, const CpuFlags&) { session.ranks(); });
}

int bench_telemetry(int argc, char** argv) {
  return measured(argc, argv, "What the log and its meters cost a training run.", "./learn bench telemetry",
                  false, [](Session& session, const CpuFlags&) { session.telemetry(); });
}

}  // namespace tinymp::lab
