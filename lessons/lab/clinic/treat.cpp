#include <fmt/format.h>
#include <lessons/lab/clinic/commands.h>
#include <lessons/lab/clinic/diagnosis.h>
#include <lessons/lab/learn/command_line.h>
#include <CLI/CLI.hpp>

// ./learn clinic run N: trains a patient again, or its cured twin beside the recorded run.
namespace tinymp::clinic {
namespace {

constexpr std::int64_t smoke_steps = 10;
constexpr lab::Lesson lesson{"clinic", "The clinic",
                             "Trains a patient of the clinic again, from its config."};

struct Flags {
  lab::Options options;
  std::string number, record;
  bool cured = false;
};

std::optional<int> parse_flags(int argc, const char* const* argv, Flags& flags) {
  CLI::App app(concat(lesson.title, ".\n", lesson.question), "./learn clinic run");
  app.add_option("N", flags.number, "The patient")->required();
  app.add_flag("--cured", flags.cured, "With the cure, beside the recorded run (gives the cause away)");
  app.add_flag("--smoke", flags.options.smoke, fmt::format("The first {} steps only", smoke_steps));
  app.add_option("--record", flags.record, "Writes the log there, and does nothing else")->type_name("FILE");
  lab::add_output_flags(app, flags.options);
  flags.options.command = lab::typed("./learn clinic run", argc, argv);
  return lab::parse(app, argc, argv);
}

}  // namespace

int treat(int argc, const char* const* argv) {
  Flags flags;
  if (const std::optional<int> code = parse_flags(argc, argv, flags)) return *code;
  const Patient one = patient(flags.number);
  const Json config = flags.cured ? cured(one) : one.config;
  const Label label = label_of(one, flags.cured);
  const std::int64_t steps = flags.options.smoke ? smoke_steps : 0;
  if (!flags.record.empty()) return run(config, label, flags.record, steps), 0;

  lab::Lab lab(lesson, flags.options);
  const train::Run recorded = train::load_run(one.log());
  const train::Run again = run(config, label, lab.log_path(label.name, recorded.header.seed), steps);
  if (flags.cured) lab.add(recorded);
  lab.add(again);
  for (const train::Finding& finding : again.findings) lab.say(finding.kind + ": " + finding.sentence);
  const bool same = flags.cured || is_beginning_of(recorded, again);
  if (!flags.cured)
    lab.say(same ? "The recorded run, bit for bit." : "Not the recorded run: other bits than on record.");
  const int code = lab.finish();
  return same ? code : 1;
}

}  // namespace tinymp::clinic
