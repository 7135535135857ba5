#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/number_lines.h>
#include <lessons/lab/learn/commands/recipe_flags.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/numeric/loss_scaling.h>
#include <tinymp/numeric/tensor_scaling.h>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <limits>

// ./learn scale-trace: the scale of each step, under a policy of loss scaling or of FP8 scaling.
namespace tinymp::lab {
namespace {

enum Policies : unsigned { dynamic = 1, enhanced = 2, te_delayed = 4, te_current = 8, torchao_current = 16 };

struct PolicyName {
  const char* name;
  Policies policy;
};
constexpr PolicyName policy_names[] = {{"dynamic", dynamic},
                                       {"enhanced", enhanced},
                                       {"te-delayed", te_delayed},
                                       {"te-current", te_current},
                                       {"torchao-current", torchao_current}};

/// The flags of policies, and which policies have a use for them.
struct PolicyFlag {
  const char *flag, *type, *help;
  unsigned policies;
};
constexpr unsigned of_loss = dynamic | enhanced, of_tensors = te_delayed | te_current | torchao_current;
constexpr PolicyFlag policy_flags[] = {
    {"--initial", "S", "The first S (65536)", of_loss},
    {"--growth", "G", "S grows by the factor G (2)", of_loss},
    {"--backoff", "B", "A step with an overflow multiplies S by B (0.5)", of_loss},
    {"--interval", "N", "S grows after N good steps in a row (2000)", of_loss},
    {"--floor", "STEP:VALUE,...", "enhanced: S backs off no further from these steps on", enhanced},
    {"--format", "NAME", "e4m3 or e5m2, of the tensor (e4m3)", of_tensors},
    {"--margin", "M", "te-delayed: the scale is 2^M times smaller; -100 to 100 (0)", te_delayed},
    {"--history", "N", "te-delayed: the amax of N steps count (1024)", te_delayed},
    {"--algorithm", "NAME", "te-delayed: max or most_recent, of the history (max)", te_delayed}};

CLI::Validator check_of(std::string_view flag) {
  constexpr double none = std::numeric_limits<double>::infinity();
  constexpr int most_steps = std::numeric_limits<int>::max(), longest_history = 1 << 20;
  if (flag == "--initial") return positive();
  if (flag == "--growth") return positive() & inside(1, none);
  if (flag == "--backoff") return positive() & inside(0, 1);
  if (flag == "--interval") return whole(1, most_steps);
  if (flag == "--floor") return scale_floors();
  if (flag == "--format") return CLI::IsMember({"e4m3", "e5m2"});
  if (flag == "--margin") return whole(-100, 100);
  if (flag == "--history") return whole(1, longest_history);
  return CLI::IsMember({"max", "most_recent"});
}

/// The flags as they were typed.
class TypedFlags {
 public:
  explicit TypedFlags(const CLI::App& app) : app_(app) {}
  bool has(const char* flag) const { return app_.count(flag) > 0; }
  std::string text(const char* flag, const char* otherwise) const {
    return has(flag) ? app_.get_option(flag)->as<std::string>() : otherwise;
  }
  int whole_number(const char* flag, int otherwise) const {
    return has(flag) ? app_.get_option(flag)->as<int>() : otherwise;
  }
  double number(const char* flag, double otherwise) const {  // CLI11 would round twice
    return has(flag) ? std::strtod(text(flag, "").c_str(), nullptr) : otherwise;
  }

 private:
  const CLI::App& app_;
};

void refuse_flags_of_others(const TypedFlags& typed, Policies policy, const std::string& name) {
  for (const PolicyFlag& flag : policy_flags)
    if (typed.has(flag.flag) && (flag.policies & policy) == 0)
      throw UsageError(
          concat(flag.flag, " has no meaning for --policy ", name, "; see ./learn scale-trace --help"));
}

LossScaling loss_scaling_from(const TypedFlags& typed, Policies policy) {
  DynamicScaling moves;
  const std::string initial = typed.text("--initial", "65536");
  moves.initial = std::strtof(initial.c_str(), nullptr);
  if (!(moves.initial > 0) || moves.initial > std::numeric_limits<float>::max())
    throw UsageError(concat("--initial takes a number that FP32 holds, not '", excerpt(initial), "'"));
  moves.growth = typed.number("--growth", moves.growth);
  moves.backoff = typed.number("--backoff", moves.backoff);
  moves.growth_interval = typed.whole_number("--interval", moves.growth_interval);
  if (policy == dynamic) return moves;
  return EnhancedScaling{.dynamic = moves, .floor = scale_floors_from(typed.text("--floor", ""))};
}

/// STEP USED AFTER step|skip
std::string trace_loss_scaling(const LossScaling& scaling) {
  ScaleState state = first_state(scaling);
  std::string out;
  for_each_number_line("printf 'ok\\ninf\\n' | ./learn scale-trace ...", [&](const NumberLine& line) {
    line.expect_words(1, "ok or inf");
    const bool bad = line.words[0] == "inf";
    if (!bad && line.words[0] != "ok")
      line.refuse(concat("'", excerpt(line.words[0]),
                         "' is neither ok nor inf; a step with a gradient that is not finite is inf"));
    const float used = state.scale;
    state.bad = bad;
    state = next_state(scaling, state);
    out += concat(line.line, " ", text_of(used), " ", text_of(state.scale), bad ? " skip\n" : " step\n");
  });
  return out;
}

float amax_in(const NumberLine& line) {
  const float amax = float_in(line, line.words[0]);
  if (amax < 0) line.refuse(concat("an amax is a largest |x|, and not below 0, as ", text_of(amax), " is"));
  return amax;
}

/// STEP SCALE
std::string trace_delayed(const DelayedScaling& policy) {
  std::vector<float> history(static_cast<std::size_t>(policy.history_length));
  DelayedScale state;
  std::string out;
  for_each_number_line("printf '3.5\\nskip\\n' | ./learn scale-trace ...", [&](const NumberLine& line) {
    line.expect_words(1, "an amax, or skip");
    out += concat(line.line, " ", text_of(state.scale), "\n");
    if (line.words[0] != "skip") move_delayed_scale(policy, history.data(), amax_in(line), state);
  });
  return out;
}

/// STEP SCALE
std::string trace_current(Policies policy, float largest) {
  std::string out;
  for_each_number_line("printf '3.5\\n' | ./learn scale-trace ...", [&](const NumberLine& line) {
    line.expect_words(1, "an amax");
    if (line.words[0] == "skip")
      line.refuse("skip has no meaning here: a current scale comes from the amax of its own step");
    const float amax = amax_in(line);
    const float scale =
        policy == te_current ? te_current_scale(amax, largest) : torchao_current_scale(amax, largest);
    out += concat(line.line, " ", text_of(scale), "\n");
  });
  return out;
}

void add_flags(CLI::App& app, std::string& policy) {
  std::vector<std::string> names;
  for (const PolicyName& one : policy_names) names.emplace_back(one.name);
  app.add_option("--policy", policy, "dynamic, enhanced, te-delayed, te-current or torchao-current")
      ->type_name("NAME")
      ->check(CLI::IsMember(names).description(""))
      ->required();
  for (const PolicyFlag& flag : policy_flags)
    app.add_option(flag.flag)->description(flag.help)->type_name(flag.type)->check(
        check_of(flag.flag).description(""));
  app.footer(
      "dynamic, enhanced: the S of the loss. A line is ok or inf, as the gradients of\n"
      "the step are; the output is STEP USED AFTER step|skip, where S is USED in the\n"
      "step and AFTER it. (dynamic is PyTorch's GradScaler. The floors of enhanced,\n"
      "Mellempudi et al. 2019, hold after a back-off.)\n\n"
      "te-delayed, te-current, torchao-current: the scale of one FP8 tensor. A line is\n"
      "the amax of the tensor, its largest |x|, as ./learn convert reads numbers; the\n"
      "output is STEP SCALE, where the tensor of the step is multiplied by SCALE. In a\n"
      "step without the tensor the line of te-delayed is skip.\n\n"
      "Example:\n"
      "  printf 'ok\\ninf\\nok\\n' | ./learn scale-trace --policy enhanced --floor 1:40000");
}

}  // namespace

int scale_trace_command(int argc, char** argv) {
  std::string name;
  CLI::App app("The scale of each step under a policy.\nReads steps from standard input, one a line.",
               "./learn scale-trace");
  add_flags(app, name);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  Policies policy{};
  for (const PolicyName& one : policy_names)
    if (name == one.name) policy = one.policy;
  const TypedFlags typed(app);
  refuse_flags_of_others(typed, policy, name);
  const float largest = typed.text("--format", "e4m3") == "e4m3" ? 448 : 57344;
  std::string out;  // printed when all lines were right
  if ((policy & of_loss) != 0) {
    out = trace_loss_scaling(loss_scaling_from(typed, policy));
  } else if (policy == te_delayed) {
    const bool max = typed.text("--algorithm", "max") == "max";
    out = trace_delayed({.largest = largest,
                         .margin = typed.whole_number("--margin", 0),
                         .history_length = typed.whole_number("--history", 1024),
                         .algorithm = max ? AmaxAlgorithm::max : AmaxAlgorithm::most_recent});
  } else {
    out = trace_current(policy, largest);
  }
  std::cout << out;
  return 0;
}

}  // namespace tinymp::lab
