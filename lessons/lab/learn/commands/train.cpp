#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/byte_size.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/ranks.h>
#include <lessons/lab/learn/commands/sweep.h>
#include <lessons/lab/learn/commands/train_flags.h>
#include <lessons/lab/learn/interrupt.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/memory_table.h>
#include <lessons/lab/report/number.h>
#include <tinymp/data/picture_folder.h>
#include <tinymp/dist/mpi.h>
#include <tinymp/train/checkpoint.h>
#include <tinymp/train/run_state.h>
#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <iostream>

// ./learn train: one run, with a flag for everything that a plan holds.
namespace tinymp::lab {
namespace {

/// What ./learn train was asked to do: a plan, and where its results go.
struct Request {
  train::Plan plan;
  Options options;
  ModelFlags model;
  std::string log{};  ///< of the run to go on with; empty: a new run
};

/// The request of the run that --resume names, from the command in its log. `app` and `flags` may change what
/// moves none of its bits.
Request recorded_request(const CLI::App& app, const TrainFlags& flags) {
  const std::string log = log_to_resume(flags.resume.resume);
  const std::string command = train::load_run(log, 0).header.command;
  const std::vector<std::string> words = arguments_of(command);
  const auto typed_again = [&] {
    try {
      return std::make_unique<TypedCommand>(words);
    } catch (const UsageError& error) {
      throw Error(concat(
          log, ": this version does not understand the command that the run was made by: ", error.what()));
    }
  }();
  Request request{plan_from(*typed_again->app, typed_again->flags), typed_again->flags.options,
                  typed_again->flags.model, log};
  request.options.command = command;
  request.options.plain = flags.options.plain;
  request.options.open = flags.options.open;
  request.options.live = flags.options.live;
  if (app.count("--threads") > 0) request.options.threads = flags.options.threads;
  if (app.count("--device") > 0) request.options.device = flags.options.device;
  if (app.count("--graph") > 0)
    request.options.graph = flags.options.graph;
  else if (app.count("--device") > 0 && flags.options.device == "cpu")
    request.options.graph = false;  // the machine with the GPU may be gone; the bits are the same
  if (app.count("--save-every") > 0) request.plan.save_every = flags.resume.save_every;
  if (app.count("--keep") > 0) request.plan.keep = flags.resume.keep;
  if (app.count("--memory-limit") > 0) request.plan.memory_limit = bytes_from(flags.memory_limit);
  if (app.count("--recompute") > 0) request.plan.recompute = segments_from(app, flags.recompute);
  request.plan.resume = flags.resume.resume;
  return request;
}

/// Whether the recipe asks for FP8 and exempts every layer of the model.
bool exempts_all(train::Plan plan) {
  plan.device = Device::meta;
  return plan.recipe.eight_bits.any() &&
         train::make_products(plan, *train::make_model(plan, plan.recipe)).covered() == 0;
}

/// After Ctrl-C: what is kept, and the command that goes on.
int tell_stopped(const train::Run& run, std::int64_t steps, const TrainFlags& flags) {
  const std::string folder = std::filesystem::path(run.path).parent_path().string();
  const std::string ranks = concat(flags.ranks);
  std::vector<const char*> words{"", "--resume", folder.c_str()};
  if (flags.ranks > 1) words.insert(words.end(), {"--ranks", ranks.c_str()});
  if (flags.zero > 0) words.insert(words.end(), {"--zero", "1"});
  if (flags.pipeline) words.push_back("--pipeline");
  if (flags.resume.hash) words.push_back("--hash");
  const std::string checkpoint = train::checkpoint_in(folder);
  const std::string step = checkpoint.empty() ? "" : concat(train::step_of_checkpoint(checkpoint));
  std::cerr << "\n"
            << fitted_for_errors(step.empty() ? concat("Interrupted before the first of ", steps,
                                                       " steps. This begins anew:")
                                              : concat("Interrupted after step ", step, " of ", steps,
                                                       "; log and checkpoint are kept. This goes on:"))
            << "\n  " << typed("./learn train", static_cast<int>(words.size()), words.data()) << "\n";
  return InterruptNote::exit_code();
}

/// "25.4 kB, 25.6 kB"
std::string told_by_rank(const std::vector<std::int64_t>& bytes) {
  std::string text;
  for (const std::int64_t of_rank : bytes)
    text += concat(text.empty() ? "" : ", ", report::bytes_text(static_cast<double>(of_rank)));
  return text;
}

/// "Waited by rank: 21 %, 14 % of forward and backward; equal parts would wait 11 %"
std::string told_waits(const std::vector<double>& shares, std::int64_t micro_batches) {
  const auto percent = [](double share) { return concat(std::lround(100 * share), " %"); };
  std::string text;
  for (const double share : shares) text += (text.empty() ? "Waited by rank: " : ", ") + percent(share);
  const auto others = static_cast<double>(shares.size()) - 1;
  return text + " of forward and backward; equal parts would wait " +
         percent(others / (static_cast<double>(micro_batches) + others));
}

/// The run of one process, or of rank 0.
int train_here(Request request, const TrainFlags& flags, dist::Transport* ranks) {
  train::Plan& plan = request.plan;
  plan.ranks = ranks;
  if (ranks != nullptr) plan.zero = static_cast<int>(flags.zero);
  plan.pipeline = flags.pipeline && ranks != nullptr;
  Lab lab(train_lesson, request.options);
  give_text(lab, request.model, plan);
  plan.question = panel(plan, lab);
  const std::string segments = told_segments(plan);
  if (data::names_folder(request.options.data)) lab.say("Data: " + data::describe(lab.data()));
  lab.say(concat(plan.question, ", ", plan.optimizer_name, ", ", describe(plan.recipe)));
  if (!segments.empty()) lab.say(segments);
  if (const std::string wire = dist::describe(plan.wire); !wire.empty())
    lab.say(concat("The ranks add up their gradients in ", wire, "."));
  if (exempts_all(plan))
    lab.say(concat("No product of this run is in FP8: the recipe exempts all layers of the model (",
                   plan.recipe.eight_bits.exempt.text(), "). Give it more, as in --widths 784,64,64,10."));
  if (flags.resume.goes_on()) lab.say(where_it_goes_on(flags.resume.resume, plan.steps));
  StartingWeights start;
  if (flags.resume.weights_only) {
    start = starting_weights(plan, flags.resume.resume);
    for (const std::string& line : start.told) lab.say(line);
    plan.start = start.model.get();
  }
  const InterruptNote interrupt;
  plan.stop = InterruptNote::seen;
  const std::int64_t steps = plan.steps, micro_batches = plan.micro_batches;
  const train::Run run =
      request.log.empty() ? lab.train(std::move(plan)) : lab.go_on(std::move(plan), request.log);
  if (!run.result) return tell_stopped(run, steps, flags);
  if (const std::string memory = report::memory_line(*run.result); !memory.empty())
    lab.say("Memory: " + memory);
  if (!run.state_bytes.empty()) lab.say("Masters and moments by rank: " + told_by_rank(run.state_bytes));
  if (!run.waited.empty()) lab.say(told_waits(run.waited, micro_batches));
  const int code = lab.finish();
  if (flags.resume.hash) std::cout << "weights " << run.result->weights << "\n";
  return code;
}

/// What a rank besides the first does: it trains, and says nothing.
int take_part(Request request, const TrainFlags& flags, dist::Transport& ranks) {
  train::Plan& plan = request.plan;
  plan.ranks = &ranks;
  plan.zero = static_cast<int>(flags.zero);
  plan.pipeline = flags.pipeline;
  request.options.live = false;
  Lab lab(train_lesson, request.options);
  give_text(lab, request.model, plan);
  StartingWeights start;
  if (flags.resume.weights_only) {
    start = starting_weights(plan, flags.resume.resume);
    plan.start = start.model.get();
  }
  const InterruptNote interrupt;
  plan.stop = InterruptNote::seen;
  static_cast<void>(train::run(lab.complete(std::move(plan)), ""));
  return InterruptNote::seen() ? InterruptNote::exit_code() : 0;
}

}  // namespace

int train_command(int argc, char** argv) {
  TrainFlags flags;
  CLI::App app(concat(train_lesson.title, ".\n", train_lesson.question), "./learn train");
  add_train_flags(app, flags);
  app.footer("Recipes:\n" + recipe_list() + "\n" + about_sweeps +
             "Examples:\n"
             "  ./learn train --recipe fp16_weights --optimizer adam --lr 1e-5\n"
             "  ./learn train --model autoencoder --recipe fp16_static --loss-scale 8\n"
             "  ./learn train --recipe fp32,fp16_static,fp16_dynamic --seeds 3 --lr 1e-3,1e-2\n"
             "  ./learn train --ranks 4 --batch 16\n"
             "  ./learn train --model transformer --ranks 2 --pipeline --accumulate 8\n"
             "  ./learn train --save-every 100, Ctrl-C, ./learn train --resume runs/train-001\n"
             "  ./learn compare runs/train-001 runs/train-002");
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  const bool says_ranks = app.count("--ranks") > 0;
  flags.ranks = ranks_of(flags.ranks);
  if (flags.zero > 0 && flags.ranks == 0 && !says_ranks)
    throw UsageError(
        "--zero shares masters and moments among ranks, and there is one process; give --ranks, too");
  if (flags.pipeline && flags.ranks == 0 && !says_ranks)
    throw UsageError(
        "--pipeline shares the blocks of a model among processes, and there is one; give --ranks, too");
  if (is_sweep(flags)) return sweep(app, flags, argc, argv);
  check_resume_flags(app, flags.resume);
  flags.options.command = typed(command_of(train_lesson), argc, argv);
  // mpirun alone has told how many; the command in the log must tell it, too.
  if (flags.ranks > 0 && !says_ranks) flags.options.command += concat(" --ranks ", flags.ranks);
  const auto request = [&] {
    Request asked = flags.resume.goes_on() ? recorded_request(app, flags)
                                           : Request{plan_from(app, flags), flags.options, flags.model};
    if (flags.ranks > 0 && asked.plan.memory_limit > 0)
      throw UsageError(
          "--memory-limit is for a run of one process: what --ranks send each other is not planned; leave "
          "one of the two out");
    return asked;
  };
  if (flags.ranks == 0) return train_here(request(), flags, nullptr);
  if (!dist::ranks_started()) {
    static_cast<void>(request());  // wrong flags are told once, before there are ranks
    return start_ranks(flags.ranks, argc, argv);
  }
  return on_ranks([&](dist::Transport& ranks) {
    return ranks.rank() == 0 ? train_here(request(), flags, &ranks) : take_part(request(), flags, ranks);
  });
}

}  // namespace tinymp::lab
