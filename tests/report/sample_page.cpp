#include <lessons/lab/report/html.h>
#include <tests/report/sample_runs.h>
#include <cstdio>
#include <string>
#include <vector>

// usage: report_sample_page FOLDER
// Writes live.html, still.html, trained.html, epochs.html and hostile.html for browser_test.sh; says "live" or "still",
// what this build can draw.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const std::vector<tinymp::report::ReportSection> sections = {sample::small_updates(),
                                                               sample::small_gradients(), sample::hostile()};
  tinymp::report::write_report(folder + "/live.html", "A sample", sections);
  tinymp::report::write_report(folder + "/still.html", "A sample", sections, {.live = false});
  const std::vector<tinymp::report::ReportSection> trained = {sample::trained()},
                                                   hostile = {sample::sixteen_hostile()};
  tinymp::report::write_report(folder + "/trained.html", "A training", trained);
  std::vector<tinymp::report::ReportSection> by_epoch = trained;
  by_epoch[0].view.x = tinymp::report::XAxis::epoch;
  tinymp::report::write_report(folder + "/epochs.html", "A training by epochs", by_epoch);
  tinymp::report::write_report(folder + "/hostile.html", sample::hostile_names()[0], hostile);
  std::puts(tinymp::report::dygraphs_js().empty() ? "still" : "live");
  return 0;
}
