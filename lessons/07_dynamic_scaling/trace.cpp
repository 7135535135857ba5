#include <fmt/format.h>
#include <lessons/07_dynamic_scaling/models.h>
#include <lessons/07_dynamic_scaling/trace.h>
#include <lessons/lab/report/number.h>

namespace tinymp::lab {
namespace {

std::vector<double> steps_taken(const Lab& lab, const char* name) {
  std::vector<double> taken;
  for (const train::Run* run : lab.runs(residual.name, name))
    taken.push_back(static_cast<double>(run->result->taken));
  return taken;
}

}  // namespace

void print_trace(Lab& lab, const train::Run& run) {
  lab.say(fmt::format("\n{}, {}, seed {}: the steps at which S changes", run.header.question, run.header.name,
                      run.header.seed));
  lab.say("   step        S   what happens            S after it");
  for (std::size_t i = 0; i + 1 < run.steps.size(); ++i) {
    const train::LogRecord& now = run.steps[i];
    const double next = run.steps[i + 1].scale;
    if (next == now.scale && !now.skipped) continue;
    lab.say(fmt::format("{:>7} {:>8}   {:<22}  {:>10}", now.step, report::scale_text(now.scale),
                        now.skipped ? "overflow: skipped" : "100 good steps in a row",
                        report::scale_text(next)));
  }
  if (run.result) lab.say(fmt::format("{} of {} steps skipped", run.result->skipped, run.header.steps));
}

void claim_steps(Lab& lab) {
  const std::vector<double> moving = steps_taken(lab, "FP16, dynamic S"),
                            fixed_s = steps_taken(lab, skips_all);
  lab.claim(smallest(moving) >= 1,
            fmt::format("residual net, dynamic S: takes {:.0f} steps or more", smallest(moving)),
            Lab::Judged::in_smoke_too);
  lab.claim(largest(fixed_s) == 0,
            fmt::format("residual net, S = 65536, skipping: no seed takes more than {:.0f} steps",
                        largest(fixed_s)),
            Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
