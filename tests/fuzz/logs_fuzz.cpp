#include <lessons/lab/report/gradient_sizes_terminal.h>
#include <lessons/lab/report/html.h>
#include <tests/fuzz/fuzz.h>
#include <tinymp/base/error.h>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

// A run log of somebody else, read and drawn: table, curves and bars in the terminal, the page. A first byte
// '#': the rest are doubles, losses and scales of a run whose log is otherwise right.
namespace {

using namespace tinymp;

nlohmann::json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string log_of(std::string_view numbers) {
  std::string log =
      R"({"tinymp_run":1,"name":"a","recipe":{"scaling":{"kind":"dynamic","initial":8.0}},"seed":0})";
  for (int step = 1; numbers.size() >= 24; ++step, numbers.remove_prefix(24)) {
    double values[3];
    std::memcpy(values, numbers.data(), sizeof values);
    log += "\n" + nlohmann::json{{"step", step},
                                 {"loss", number(values[0])},
                                 {"scale", number(values[1])},
                                 {"absorbed", number(values[2])}}
                      .dump();
  }
  return log;
}

void draw(const std::vector<train::Run>& runs) {
  for (const int width : {20, 80}) {
    const report::TerminalStyle style{.unicode = width == 80, .colour = false, .width = width};
    for (const report::ReportSection& section : report::sections_by_question(runs)) {
      std::ostringstream out;
      report::print_section(out, section, style);
      report::terminal_sizes(report::group_by_recipe(section.runs), style);
    }
  }
  report::html_report("Report", report::sections_by_question(runs));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = text_of(data, size);
  const bool numbers = !text.empty() && text[0] == '#';
  std::ofstream(own_file(), std::ios::binary) << (numbers ? log_of(text.substr(1)) : std::string(text));
  try {
    std::vector<train::Run> runs{train::load_run(own_file())};
    runs.push_back(runs[0]);
    runs[1].header.seed ^= 1;
    draw(runs);
  } catch (const Error&) {
  }
  return 0;
}
