#include <lessons/lab/report/html.h>
#include <tests/report/sample_runs.h>
#include <cstdio>
#include <string>
#include <vector>

// usage: report_sample_page FOLDER
// Writes live.html and still.html for browser_test.sh; says "live" or "still", what this build can draw.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const std::vector<tinymp::report::ReportSection> sections = {sample::small_updates(),
                                                               sample::small_gradients(), sample::hostile()};
  tinymp::report::write_report(folder + "/live.html", "A sample", sections);
  tinymp::report::write_report(folder + "/still.html", "A sample", sections, {.live = false});
  std::puts(tinymp::report::dygraphs_js().empty() ? "still" : "live");
  return 0;
}
