#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/csv.h>
#include <lessons/lab/report/csv_runs.h>
#include <lessons/lab/report/run_fields.h>
#include <lessons/lab/report/section.h>
#include <tests/fuzz/fuzz.h>
#include <tinymp/base/error.h>
#include <fstream>
#include <sstream>

// A table of runs from another program: read, compared, drawn, and written again. What is written must read back with
// as many rows as there are groups.
namespace {

using namespace tinymp;

void compare(const std::vector<train::Run>& runs) {
  for (const char* const by : {"", "recipe", "seed", "lr", "run"}) {
    for (const char* const metric : {"", "loss", "accuracy", "grad_norm"}) {
      const report::RunsView view{.by = by,
                                  .against = runs[0].path,
                                  .metric = metric,
                                  .x = *metric == 'l' ? report::XAxis::epoch : report::XAxis::step,
                                  .smooth = 0.5,
                                  .logarithmic = *by == 's'};
      const std::vector<report::Group> groups = report::groups_of(runs, view);
      const std::vector<report::Comparison> found = {report::compare_groups(groups, view)};
      std::istringstream csv(report::comparison_csv(found));
      report::CsvReader reader(csv, "own");
      std::size_t rows = 0;
      std::size_t columns = 0;
      for (std::vector<std::string> fields; reader.next(fields); ++rows) {
        if (rows == 0) columns = fields.size();
        if (fields.size() != columns || columns < 16) std::abort();
      }
      if (rows != groups.size() + 1) std::abort();
      (void)report::comparison_json(found);
      std::ostringstream out;
      report::print_section(out, {.question = "", .verdict = "", .runs = runs, .view = view},
                            {.unicode = *by == 'r', .colour = false, .width = 80});
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  std::ofstream(own_file(), std::ios::binary) << text;
  try {
    const std::vector<train::Run> runs = report::csv_runs(own_file());
    if (runs.size() <= 4) compare(runs);
  } catch (const Error&) {
  }
  try {
    (void)report::conditions_from(text);
  } catch (const UsageError&) {
  }
  return 0;
}
