#include <fmt/format.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/overlay.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/verdict.h>
#include <lessons/lab/learn/command_line.h>
#include <tests/classroom/mutate.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

// classroom_mutants [N] [--most K]: is every check as strict as it should be? Takes minutes for each
// exercise. An exercise's survivors.txt explains each mutant that passes because it computes the same.
namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;
using Outcome = Verdict::Outcome;

constexpr std::size_t at_least = 50;
constexpr double share_rejected = 0.95;

/// What became of the mutants that compiled to something else than the reference.
struct Tally {
  std::size_t compiled = 0, same_program = 0;
  std::vector<Mutant> survivors{};
};

/// At most `most` of them, from all over the text; 0: all.
std::vector<Mutant> some_of(std::vector<Mutant> mutants, std::size_t most) {
  if (most == 0 || mutants.size() <= most) return mutants;
  std::vector<Mutant> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(mutants[i * mutants.size() / most]);
  return some;
}

class Campaign {
 public:
  explicit Campaign(const Exercise& exercise) : exercise_(exercise), reference_(exercise.reference()) {
    const Verdict right = judge(exercise_, reference_, "mutant", scratch_.path() / "reference");
    expect(right.passed(), exercise.number(), ": the reference does not pass. ", right.message);
    program_ = read_file(scratch_.path() / "reference" / "check");
  }
  /// Single signs, then names, are changed; and then two things at a time, until at_least of them have
  /// compiled.
  Tally run_mutants(std::size_t most) {
    Tally tally;
    judge_all(some_of(mutants_of(reference_), most), tally);
    if (most > 0) return tally;
    constexpr std::size_t portion = 100;  // most that are renamed do not compile
    const std::vector<Mutant> renamed = renamed_mutants_of(reference_);
    for (std::size_t i = 0; i < renamed.size() && tally.compiled < at_least; i += portion) {
      const auto begin = renamed.begin() + static_cast<std::ptrdiff_t>(i);
      judge_all({begin, begin + static_cast<std::ptrdiff_t>(std::min(portion, renamed.size() - i))}, tally);
    }
    if (tally.compiled < at_least) judge_all(some_of(pairs(), 2 * at_least), tally);
    return tally;
  }

 private:
  /// What was rejected, changed once more.
  std::vector<Mutant> pairs() const {
    std::vector<Mutant> pairs;
    std::set<std::string> seen{reference_};
    for (const Mutant& one : rejected_) seen.insert(one.text);
    for (const Mutant& first : rejected_)
      for (Mutant& second : mutants_of(first.text))
        if (seen.insert(second.text).second)
          pairs.push_back({concat(first.id, "; ", second.id), std::move(second.text)});
    return pairs;
  }
  void judge_all(const std::vector<Mutant>& mutants, Tally& tally) {
    enum class Fate : std::uint8_t { unjudged, rejected, no_build, same, survived };
    std::vector<Fate> fates(mutants.size());
    std::atomic<std::size_t> next = 0;
    const auto judge_some = [&](unsigned worker) {
      const fs::path scratch = scratch_.path() / std::to_string(worker);
      for (std::size_t i; (i = next++) < mutants.size();) {
        const Verdict verdict = judge(exercise_, mutants[i].text, "mutant", scratch, {.run = 20});
        if (verdict.outcome == Outcome::machine) throw MissingError(verdict.message);
        fates[i] = verdict.outcome == Outcome::no_build       ? Fate::no_build
                   : !verdict.passed()                        ? Fate::rejected
                   : read_file(scratch / "check") == program_ ? Fate::same
                                                              : Fate::survived;
      }
    };
    std::mutex first;
    std::exception_ptr failed;
    const auto work = [&](unsigned worker) {
      try {
        judge_some(worker);
      } catch (...) {  // told below, by the thread that may throw
        next = mutants.size();
        const std::scoped_lock one_at_a_time(first);
        if (!failed) failed = std::current_exception();
      }
    };
    std::vector<std::thread> workers;
    for (unsigned w = 0; w < std::max(1u, std::thread::hardware_concurrency()); ++w)
      workers.emplace_back(work, w);
    for (std::thread& worker : workers) worker.join();
    if (failed) std::rethrow_exception(failed);
    for (std::size_t i = 0; i < mutants.size(); ++i) {
      tally.compiled += fates[i] == Fate::rejected || fates[i] == Fate::survived;
      tally.same_program += fates[i] == Fate::same;
      if (fates[i] == Fate::survived) tally.survivors.push_back(mutants[i]);
      if (fates[i] == Fate::rejected) rejected_.push_back(mutants[i]);
    }
  }

  const Exercise& exercise_;
  ScratchFolder scratch_{"mutants"};
  std::string reference_, program_;
  std::vector<Mutant> rejected_;
};

/// survivors.txt beside the check: "25:12 > => >=: why it computes the same".
std::map<std::string, std::string> explained(const Exercise& exercise) {
  std::map<std::string, std::string> why;
  if (!fs::exists(exercise.folder / "survivors.txt")) return why;
  std::istringstream lines(read_file(exercise.folder / "survivors.txt"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.empty() && colon != std::string::npos) why[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return why;
}

/// One line a survivor; true when the check holds what is asked of it. `all`: no mutant was left out.
bool report(const Exercise& exercise, const Tally& tally, bool all) {
  const std::size_t rejected = tally.compiled - tally.survivors.size();
  std::map<std::string, std::string> why = explained(exercise);
  bool all_explained = true;
  std::string lines;
  for (const Mutant& survivor : tally.survivors) {
    const auto known = why.find(survivor.id);
    all_explained = all_explained && known != why.end();
    lines += fmt::format("    {}: {}\n", survivor.id, known == why.end() ? "NOT EXPLAINED" : known->second);
    if (known != why.end()) why.erase(known);
  }
  for (const auto& [id, reason] : why)
    lines += fmt::format("    {}: is explained, but did not survive\n", id);
  const bool holds = (!all || tally.compiled >= at_least) && all_explained && why.empty() &&
                     static_cast<double>(rejected) >= share_rejected * static_cast<double>(tally.compiled);
  std::cout
      << fmt::format(
             "  {:<5} {:<24} {:>4} mutants, {:>4} rejected, {} survive ({} more are the same program){}\n{}",
             exercise.number(), exercise.id, tally.compiled, rejected, tally.survivors.size(),
             tally.same_program, holds ? "" : "  <- NOT AS IT SHOULD BE", lines)
      << std::flush;
  return holds;
}

int measure_checks(int argc, const char* const* argv) {
  std::string which;
  std::size_t most = 0;
  CLI::App app("Automatic wrong versions of each reference: how many does its check reject?",
               "classroom_mutants");
  app.add_option("N", which, "1.2: an exercise, by number or name; 1: those of a chapter (all)");
  app.add_option("--most", most, "Of an exercise, from all over its text (all)")->type_name("K");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  bool all = true;
  for (const Exercise& exercise : which.empty() ? exercises() : exercises_named(which)) {
    Campaign campaign(exercise);
    all = report(exercise, campaign.run_mutants(most), most == 0) && all;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace tinymp::classroom

int main(int argc, char** argv) {
  const int code = tinymp::lab::guarded([&] {
    tinymp::classroom::install_signal_handlers();
    return tinymp::classroom::measure_checks(argc, argv);
  });
  return code != 0 && tinymp::classroom::interrupted() ? 130 : code;
}
