#include <fmt/format.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/kept_log.h>
#include <lessons/lab/learn/commands/other_seeds.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <tinymp/base/error.h>
#include <tinymp/data/dataset.h>
#include <tinymp/data/text.h>
#include <tinymp/train/provenance.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <set>
#include <sstream>

// ./learn verify-all: a claim is worth something only if it fails when the technique is gone.
namespace tinymp::lab {
namespace {

constexpr const char* title =
    "What every lesson claims, and whether the claims fail when its technique, where it has one, is turned "
    "off.";

constexpr const char* broken_claim = "      x ";  // as --plain marks it

/// The claims at the end of a lesson's output, a line each.
std::string claims_of(const std::string& output) {
  std::istringstream lines(output);
  std::string claims;
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("What the chapter promises", 0) == 0 || line.rfind("What to expect of", 0) == 0) {
      found = true;
    } else if (line.rfind("? is not judged", 0) == 0 || line.rfind("Page:", 0) == 0) {
      break;
    } else if (found && !line.empty()) {
      claims += "    " + line + "\n";
    }
  }
  return claims;
}

enum class Ending : std::uint8_t {
  right,  ///< every claim holds, or with sabotage one does not
  wrong,
  not_tried,  ///< what the sabotage breaks needs data that are not here
  lacking     ///< the experiment lacks something, which it has told
};

/// Runs one experiment.
Ending check(KeptLog& log, const LessonProgram& lesson, std::vector<std::string> arguments,
             const std::string& sabotage) {
  if (!sabotage.empty()) arguments.insert(arguments.end(), {"--sabotage", sabotage});
  const auto start = std::chrono::steady_clock::now();
  const Ended ended = run(lesson, arguments);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (ended.code == lacks_something) return Ending::lacking;
  const std::string claims = claims_of(ended.output);
  const bool broken = claims.find(broken_claim) != std::string::npos;
  if (!sabotage.empty() && ended.code == 0 && !broken &&
      ended.output.find(not_tried + sabotage) != std::string::npos) {
    log.write(fmt::format("Lesson {}, sabotaged: {}: not tried, for its data are not here\n", lesson.number,
                          sabotage));
    return Ending::not_tried;
  }
  const bool as_expected = sabotage.empty() ? ended.code == 0 : ended.code == 1 && broken;
  std::string command = "./learn run " + lesson.number;
  for (const std::string& argument : arguments) command += " " + argument;
  const char* what = sabotage.empty() ? (as_expected ? "holds" : "DOES NOT HOLD")
                                      : (as_expected ? "fails, as it must" : "GOES UNNOTICED");
  const std::string name = "Lesson " + lesson.number + (sabotage.empty() ? "" : ", sabotaged: " + sabotage);
  log.write(fmt::format("{}: {} (exit code {}, {:.0f} s)\n  {}\n{}", name, what, ended.code, seconds, command,
                        claims));
  return as_expected ? Ending::right : Ending::wrong;
}

struct Flags {
  int seeds = 0;
  bool smoke = false;
  std::string data{}, out{}, results{}, runs = "runs";
  std::vector<std::uint64_t> first_seeds{};
};

std::optional<int> parse_flags(int argc, char** argv, Flags& flags) {
  CLI::App app(title, "./learn verify-all");
  app.add_option("--seeds", flags.seeds, "Of every experiment (as many as it wants: 3, or 5)")
      ->type_name("K")
      ->check(whole(1, 1000));
  app.add_flag("--smoke", flags.smoke, "One seed, a few steps, and the claims that they can judge");
  app.add_option("--data", flags.data, "cut: what comes with tinymp (the full set of each lesson)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"cut"}).description(""));
  app.add_option("--out", flags.out, "Keeps the log, with machine, date and commit")->type_name("FILE");
  CLI::Option* const results = app.add_option("--results", flags.results,
                                              "Writes DIR/NN_name/results.json, the figures of each chapter")
                                   ->type_name("DIR")
                                   ->check(CLI::ExistingDirectory.description(""));
  app.add_option("--first-seed", flags.first_seeds,
                 "On seeds F, F + 1, ... instead, beside the figures on record; nothing is turned off")
      ->type_name("F[,F...]")
      ->delimiter(',')
      ->excludes(results)
      ->excludes(app.get_option("--smoke"))
      ->excludes(app.get_option("--data"));
  app.add_option("--runs", flags.runs, "Where each run gets a new folder")
      ->type_name("DIR")
      ->capture_default_str();
  return parse(app, argc, argv);
}

/// Throws MissingError before hours are spent where a lesson at the end would find no data.
void expect_data(const std::vector<LessonProgram>& lessons) {
  std::set<std::string> names;
  for (const LessonProgram& lesson : lessons) names.insert(lesson_of(lesson.number).data[0]);
  for (const std::string& name : names) {
    if (name == "text") {
      (void)data::load_text(8192);
    } else {
      (void)data::count_images(name);
    }
  }
}

std::vector<std::string> arguments_of(const Flags& flags) {
  std::vector<std::string> arguments{"--verify", "--plain", "--out", flags.runs};
  if (flags.smoke) {
    arguments.emplace_back("--smoke");
  } else if (flags.seeds > 0) {
    arguments.insert(arguments.end(), {"--seeds", std::to_string(flags.seeds)});
  }
  if (!flags.data.empty()) arguments.insert(arguments.end(), {"--data", flags.data});
  return arguments;
}

}  // namespace

int verify_all(int argc, char** argv) {
  Flags flags;
  if (const std::optional<int> code = parse_flags(argc, argv, flags)) return *code;

  KeptLog log(flags.out);
  if (!flags.smoke && flags.data.empty()) expect_data(lesson_programs());
  log.write(fmt::format("{}\n{}, {}, commit {}, {}\n\n", typed("./learn verify-all", argc, argv),
                        train::processor_name(), train::compiler_name(), train::build_commit(),
                        train::utc_now()));
  if (!flags.first_seeds.empty()) {
    const std::optional<int> failed =
        claims_on_other_seeds(log, flags.first_seeds, arguments_of(flags), flags.runs);
    if (!failed) return lacks_something;
    log.finish();
    return *failed == 0 ? 0 : 1;
  }
  int checks = 0, failed = 0;
  for (const LessonProgram& lesson : lesson_programs()) {
    const Lesson& told = lesson_of(lesson.number);
    std::vector<std::string> ways{""};
    for (std::string& name : sabotages_of(told)) ways.push_back(std::move(name));
    for (const std::string& way : ways) {
      std::vector<std::string> arguments = arguments_of(flags);
      if (!flags.results.empty() && way.empty())
        arguments.insert(arguments.end(), {"--results", flags.results + "/" + told.name + "/results.json"});
      const Ending ending = check(log, lesson, arguments, way);
      if (ending == Ending::lacking) return lacks_something;
      if (ending == Ending::not_tried) continue;
      failed += ending == Ending::wrong;
      checks += 1;
    }
  }
  expect(checks > 0, "no lesson lies in ", own_folder().string(), ": ./learn run 1 builds them");
  log.write(fmt::format("\n{} of {} as they should be\n", checks - failed, checks));
  log.finish();
  return failed == 0 ? 0 : 1;
}

}  // namespace tinymp::lab
