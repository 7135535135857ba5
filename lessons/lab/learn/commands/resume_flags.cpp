#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/resume_flags.h>
#include <lessons/lab/learn/find_runs.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/train/checkpoint.h>
#include <tinymp/train/run_state.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>

namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

/// What may be given beside --resume: nothing in it changes a bit of the run.
constexpr std::array may_change{
    "--help",   "--resume",    "--save-every",   "--keep",  "--hash",     "--threads",
    "--device", "--graph",     "--plain",        "--open",  "--mine",     "--weights-only",
    "--live",   "--recompute", "--memory-limit", "--ranks", "--pipeline", "--zero"};

/// 0 .. 15; -1 for any other character.
int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Reads the words of a shell, as typed() writes them: plain, 'quoted', $'with \x0a in it'.
class ShellWords {
 public:
  explicit ShellWords(std::string_view text) : rest_(text) {}

  std::vector<std::string> all() {
    std::vector<std::string> words;
    bool inside = false;
    while (!rest_.empty()) {
      const char c = take();
      if (c == ' ') {
        inside = false;
        continue;
      }
      if (!inside) words.emplace_back();
      inside = true;
      read_part(c, words.back());
    }
    return words;
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  void read_part(char c, std::string& word) {
    const bool escapes = c == '$' && !rest_.empty() && rest_.front() == '\'';
    if (escapes) c = take();
    if (c == '\'') {
      while (!rest_.empty() && rest_.front() != '\'') word += escapes ? escaped() : take();
      if (!rest_.empty()) take();
    } else if (c == '\\' && !rest_.empty()) {
      word += take();
    } else {
      word += c;
    }
  }
  char escaped() {
    const char c = take();
    if (c != '\\' || rest_.empty()) return c;
    const char what = take();
    if (what != 'x' || rest_.size() < 2) return what;
    const int high = hexadecimal(take()), low = hexadecimal(take());
    return static_cast<char>(high * 16 + low);
  }

  std::string_view rest_;
};

/// --resume names a folder or a checkpoint. Empty when the folder has none.
std::string checkpoint_named(const std::string& resume) {
  std::error_code unknown;
  return fs::is_directory(resume, unknown) ? train::checkpoint_in(resume) : resume;
}

}  // namespace

void add_resume_flags(CLI::App& app, ResumeFlags& flags) {
  const char* const group = "Checkpoints";
  constexpr std::int64_t many = 1'000'000'000;
  app.add_option("--save-every", flags.save_every,
                 "Save a checkpoint every so many steps, not at the end alone")
      ->type_name("N")
      ->check(whole(1, many))
      ->group(group);
  app.add_option("--keep", flags.keep, "Keep the last K checkpoints, checkpoint-STEP.safetensors, too")
      ->type_name("K")
      ->check(whole(1, many))
      ->group(group);
  app.add_option("--resume", flags.resume, "Go on with the run in this folder, or from a checkpoint in it")
      ->type_name("RUN")
      ->check(CLI::Validator(
          [](std::string& text) {
            return text.empty() ? std::string("takes a folder or a checkpoint, not ''") : std::string();
          },
          ""))
      ->group(group);
  app.add_flag("--weights-only", flags.weights_only,
               "With --resume: a new run that begins with the weights of RUN that fit")
      ->group(group);
  app.add_flag("--hash", flags.hash, "End with a line 'weights HASH', the same on every machine")
      ->group(group);
}

void check_resume_flags(const CLI::App& app, const ResumeFlags& flags) {
  if (flags.weights_only && flags.resume.empty())
    throw UsageError("--weights-only says what is taken of a run: name it with --resume RUN");
  if (!flags.goes_on()) return;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::find(may_change, name) != may_change.end()) continue;
    throw UsageError(concat(name,
                            " would make another run of the one that --resume goes on with; leave it out, or "
                            "take the weights alone: --weights-only"));
  }
}

std::string log_to_resume(const std::string& resume) {
  std::error_code failed;
  const bool is_folder = fs::is_directory(resume, failed);
  if (!is_folder && !fs::exists(resume, failed))
    throw UsageError(concat("--resume: there is no ", excerpt(resume, 200),
                            "; name the folder of a run, or a checkpoint"));
  const fs::path folder = is_folder ? fs::path(resume) : fs::path(resume).parent_path();
  std::vector<std::string> logs;
  for (fs::directory_iterator i(folder.empty() ? "." : folder, failed), end; !failed && i != end;
       i.increment(failed))
    if (i->path().extension() == ".jsonl") logs.push_back(i->path().string());
  if (logs.size() == 1) return logs.front();
  const std::string example = "; name the folder of one run, as runs/train-001";
  throw UsageError(logs.empty() ? concat("--resume: ", excerpt(folder.string(), 200), " has no log of a run",
                                         one_below(folder.string(), ".jsonl", example))
                                : concat("--resume: ", excerpt(folder.string(), 200),
                                         " has several logs of a run", example));
}

std::vector<std::string> arguments_of(const std::string& command) {
  std::vector<std::string> words = ShellWords(command).all();
  if (!words.empty() && words[0].starts_with("TINYMP_EMULATE=")) words.erase(words.begin());
  if (words.size() < 2 || words[0] != "./learn" || words[1] != "train")
    throw UsageError(concat("--resume goes on with runs of ./learn train, and this one was made by: ",
                            excerpt(command, 200)));
  words.erase(words.begin());
  return words;
}

std::string where_it_goes_on(const std::string& resume, std::int64_t steps) {
  const std::string path = checkpoint_named(resume);
  if (path.empty()) return "The run has no checkpoint: it begins anew.";
  const std::int64_t step = train::step_of_checkpoint(path);
  return step == steps ? concat("All ", steps, " steps are done.")
                       : concat("Goes on after step ", step, " of ", steps, ".");
}

StartingWeights starting_weights(const train::Plan& plan, const std::string& resume) {
  const std::string path = checkpoint_named(resume);
  Rng rng(plan.seed);
  StartingWeights start{plan.model(recipes::fp32, rng), {}};
  const train::LoadedWeights loaded = train::load_weights(path, *start.model);
  start.told.push_back(concat("Weights: ", loaded.taken.size(), " tensors of ", path));
  for (const std::string& left : loaded.left) start.told.push_back("  left there: " + left);
  for (const std::string& missing : loaded.missing) start.told.push_back("  begins anew: " + missing);
  return start;
}

}  // namespace tinymp::lab
