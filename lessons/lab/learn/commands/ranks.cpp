#include <fcntl.h>
#include <unistd.h>

#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/ranks.h>
#include <lessons/lab/learn/commands/train_flags.h>
#include <lessons/lab/learn/mpirun.h>
#include <lessons/lab/learn/process.h>
#include <tinymp/dist/mpi.h>
#include <tinymp/train/pipeline.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

namespace tinymp::lab {
namespace {

constexpr std::int64_t most_ranks = 1024;

volatile std::sig_atomic_t asked = 0;  // the signal that asked this process to end
volatile pid_t mpirun = 0;

/// mpirun hands SIGUSR1 on to all ranks, which stop after the same step; after Ctrl-C it would end them within a second.
extern "C" void hand_on(int signal) {
  kill(mpirun, asked == 0 ? SIGUSR1 : SIGTERM);
  asked = signal;
}

/// Passes on what the ranks write to their standard error, and leaves out what Open MPI's mpirun explains, in frames
/// of dashes. Returns the line there that tells which rank was killed; "" when none was.
std::string pass_on(std::FILE* errors) {
  std::string killed, line;
  bool framed = false;
  for (int c = 0; (c = std::getc(errors)) != EOF;) {
    line += static_cast<char>(c);
    if (c != '\n') continue;
    if (line.starts_with("--------------------"))
      framed = !framed;
    else if (!framed && line.find(": Forwarding signal ") == std::string::npos)
      std::fputs(line.c_str(), stderr);
    else if (line.find(" exited on signal ") != std::string::npos)
      killed = line;
    line.clear();
  }
  std::fputs(line.c_str(), stderr);
  return killed;
}

/// "mpirun noticed that process rank 2 with PID 0 on node a exited on signal 9 (Killed)." -> "rank 2 exited on signal 9 (Killed)"
std::string about_killed(const std::string& line) {
  const std::size_t rank = line.find("rank "), end = line.find(' ', rank + 5),
                    exited = line.find("exited on"), dot = line.find(".\n");
  if (rank == std::string::npos || end == std::string::npos || dot == std::string::npos) return line;
  return line.substr(rank, end - rank) + " " + line.substr(exited, dot - exited);
}

}  // namespace

void add_ranks_flag(CLI::App& app, std::int64_t& ranks) {
  app.add_option("--ranks", ranks,
                 "Train with N processes, by MPI: a step sees N x K batches, of which each process takes K "
                 "(--accumulate)")
      ->type_name("N")
      ->check(whole(1, most_ranks));
}

void add_zero_flag(CLI::App& app, std::int64_t& stage) {
  app.add_option(
         "--zero", stage,
         "With --ranks: 1 shares masters and moments among the ranks (ZeRO stage 1), and moves no bit; "
         "0: each rank keeps all")
      ->type_name("STAGE")
      ->check(whole(0, 1));
}

void add_pipeline_flag(CLI::App& app, bool& pipeline) {
  app.add_flag("--pipeline", pipeline,
               "With --ranks: each process takes a part of the blocks of a transformer, and all K batches go "
               "through them one behind the other. No bit changes");
}

void choose_pipeline(const CLI::App& app, const TrainFlags& flags, train::Plan& plan) {
  plan.micro_batches = flags.micro_batches;
  if (app.count("--shadow-every") == 0) plan.shadow_every = plan.histogram_every = 0;
  train::expect_pipelined(plan);
  if (flags.model.layers < flags.ranks)
    throw UsageError(concat("--pipeline takes a block or more for each rank, and there are ", flags.ranks,
                            " ranks; --layers ", flags.ranks, " or more, or fewer ranks"));
}

void add_wire_flags(CLI::App& app, std::string& format, std::string& divide) {
  app.add_option(
         "--wire", format,
         "With --ranks: add up gradients in f16 or bf16, half of the bytes (as they are, with the bits of "
         "one process)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"f16", "bf16"}).description(""));
  app.add_option(
         "--divide", divide,
         "With --wire: by the number of ranks before each rounds (first, as DDP), after the sum (after), "
         "or by a part before and the rest after (split, as FSDP)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"after", "first", "split"}).description(""))
      ->capture_default_str();
}

dist::Wire wire_from(const CLI::App& app, const std::string& format, const std::string& divide,
                     std::int64_t ranks) {
  if (app.count("--divide") > 0 && format.empty())
    throw UsageError(
        "--divide tells where --wire f16 or bf16 divides; without --wire no gradient is divided");
  if (format.empty()) return {};
  if (ranks <= 1)
    throw UsageError(concat("--wire ", format, " is how several processes add up gradients; add --ranks 2"));
  return {dtype_from_name(format), dist::divide_from_name(divide)};
}

std::int64_t ranks_of(std::int64_t named) {
  const std::optional<int> started = dist::ranks_started();
  if (!started) return named > 1 ? named : 0;
  if (named > 0 && named != *started)
    throw UsageError(concat("--ranks ", named, ", but mpirun has started ", *started, "; leave --ranks out"));
  return *started > 1 ? *started : 0;
}

int start_ranks(std::int64_t ranks, int argc, char** argv) {
  if (!dist::has_mpi()) static_cast<void>(dist::join_mpi());  // it says what is missing
  set_up_mpirun(ranks);
  std::vector<std::string> command{TINYMP_MPIEXEC, "-n", concat(ranks),
                                   std::filesystem::read_symlink("/proc/self/exe").string(), "train"};
  command.insert(command.end(), argv + 1, argv + argc);

  Pipe errors;
  const Descriptor nothing("/dev/null", O_RDONLY);
  // In a session of its own Ctrl-C does not reach mpirun.
  mpirun = start({.command = command, .files = {{0, nothing.file()}, {2, errors.ends[1]}}, .prepare = [] {
                    return setsid() < 0 ? "make a session" : nullptr;
                  }});
  errors.close_end(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, hand_on);
  std::FILE* const lines = fdopen(errors.ends[0], "r");
  const std::string killed = lines == nullptr ? "" : pass_on(lines);
  const int code = wait_for(mpirun);
  if (!killed.empty() && asked == 0)
    throw Error(concat(about_killed(killed),
                       ", and mpirun has ended the others; --resume goes on from the last checkpoint"));
  return asked == 0 ? code : 128 + asked;
}

int on_ranks(const std::function<int(dist::Transport&)>& work) {
  const std::unique_ptr<dist::Transport> ranks = dist::join_mpi();
  const int rank = ranks->rank();
  if (rank > 0 && std::freopen("/dev/null", "w", stdout) == nullptr) throw Error("cannot open /dev/null");
  const auto give_way = [] {  // rank 0 speaks, or rank 1 where that is gone; with it all end
    std::this_thread::sleep_for(std::chrono::seconds(5));
    dist::end_all(1);
  };
  try {
    return work(*ranks);
  } catch (const dist::LostRank& lost) {
    const int speaker = lost.rank == 0 && !lost.has_told ? 1 : 0;
    if (rank > speaker) give_way();
    throw;
  } catch (const std::exception& error) {
    ranks->fail(concat("rank ", rank, ": ", error.what()));
    if (rank > 0) give_way();
    throw;
  }
}

}  // namespace tinymp::lab
