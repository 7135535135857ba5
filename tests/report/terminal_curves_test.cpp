#include <lessons/lab/report/axis.h>
#include <lessons/lab/report/canvas.h>
#include <lessons/lab/report/html.h>
#include <lessons/lab/report/terminal_curves.h>
#include <tests/catch.h>
#include <tests/report/curve_of.h>
#include <tests/report/sample_runs.h>
#include <cmath>
#include <sstream>

using namespace tinymp::report;

namespace {

constexpr TerminalStyle unicode{.unicode = true, .colour = false, .width = 40};
constexpr TerminalStyle ascii{.unicode = false, .colour = false, .width = 40};

Panel two_losses() {
  Panel panel{.quantity = Quantity::loss, .title = "Training loss"};
  panel.curves.push_back(curve_of("FP32", [](int step) { return 2 - 0.09 * step; }));
  panel.curves.push_back(
      curve_of("FP16, S = 1", [](int step) { return step <= 12 ? 2 + step * step / 240.0 : std::nan(""); }));
  panel.curves[1].ends.push_back({12, 2.6, 13});
  panel.group = {0, 1};
  return panel;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("curves in Braille: axes, markers, a cross where the loss stops being finite") {
  CHECK(terminal_chart(two_losses(), unicode, {.height = 6}) ==
        "Training loss\n"
        "4 ┤\n"
        "  │\n"
        "2 ┤  ⣀⣀⣀▲⣀⣀⣀⣀⣀⣀⠤▲⠤⠤⠤⠔⠒⠒▲⠉✗\n"
        "  │  ●⠒⠒⠒⠢⠤⠤●⣀⣀⣀⣀\n"
        "  │              ⠉⠉●⠑⠒⠒⠒⠤⠤●⢄⣀⣀⣀⡀\n"
        "0 ┤                            ⠈⠉⠉●⠒⠒⠒⠢●\n"
        "  └┬─────────────────┬─────────────────┬\n"
        "   0                10                20\n"
        "  ● FP32  0.2\n"
        "  ▲ FP16, S = 1  2.6  ✗ not finite from\n"
        "    step 13\n");
}

TEST_CASE("curves in ASCII, for other locales and --plain") {
  CHECK(terminal_chart(two_losses(), ascii, {.height = 6}) ==
        "Training loss\n"
        "4 |\n"
        "  |\n"
        "2 |  ####################X\n"
        "  |  ooooooooooooo\n"
        "  |               ooooooooooooooooo\n"
        "0 |                                ooooo\n"
        "  ++-----------------+-----------------+\n"
        "   0                10                20\n"
        "  o FP32  0.2\n"
        "  # FP16, S = 1  2.6  X not finite from\n"
        "    step 13\n");
}

TEST_CASE("a logarithmic axis") {
  Panel panel{.quantity = Quantity::loss, .title = "Training loss", .scale = Scale::decades};
  panel.curves.push_back(
      curve_of("FP32", [](int step) { return 1000.0 / (1 + (step - 1) * (step - 1) * 3); }));
  panel.group = {0};
  CHECK(terminal_chart(panel, unicode, {.height = 5}) ==
        "Training loss, logarithmic\n"
        "1000 ┤ ⠈⠢●\n"
        "     │    ⠉⠢⢄⡀\n"
        "  10 ┤       ⠈⠉⠑●⠤⠤⠤⢄⣀⣀●\n"
        "     │                  ⠉⠉⠉⠒⠒●⠒⠒⠒⠒⠤⠤●⠤⠤⠤\n"
        " 0.1 ┤\n"
        "     └┬────────────────┬───────────────┬\n"
        "      0               10              20\n"
        "  ● FP32  0.9225\n");
}

TEST_CASE("a loss scale goes in steps on powers of two, the band is dotted") {
  Panel panel{.quantity = Quantity::scale, .title = "Loss scale S", .scale = Scale::powers_of_two};
  panel.curves.push_back(curve_of("dynamic", [](int step) {
    return step < 5 ? 65536 : step < 12 ? 16384 : 32768;
  }));
  panel.group = {3};
  CHECK(terminal_chart(panel, unicode, {.height = 4}) ==
        "Loss scale S\n"
        "65536 ┤ ⠈⠉◆⠉⠉⠉⠉⡇\n"
        "32768 ┤        ⡇          ⢀⣀⣀⣀◆⣀⣀⣀⣀⣀◆⣀⣀⣀\n"
        "      │        ⡇          ⢸\n"
        "16384 ┤        ⣇⣀◆⣀⣀⣀⣀⣀◆⣀⣀⣸\n"
        "      └┬───────────────┬───────────────┬\n"
        "       0              10              20\n"
        "  ◆ dynamic  32768\n");
  Curve& curve = panel.curves[0];
  curve.seeds = 2;
  for (double& value : curve.low) value /= 2;
  for (double& value : curve.high) value *= 2;
  CHECK(terminal_chart(panel, unicode, {.height = 6, .band = true}) ==
        "Loss scale S, mean and band of 2 seeds\n"
        " 2^17 ┤     ⠁\n"
        "      │ ⠠⠤◆⠤⠤⠤⠤⡄            ⠄ ⠄  ⠄    ⠄\n"
        "32768 ┤     ⡀  ⡇ ⡀  ⡀    ⡀⢀⣀⣀⣀◆⣀⣀⣀⣀⣀◆⣀⣀⣀\n"
        "      │        ⡇          ⢸\n"
        "      │        ⠓⠒◆⠒⠒⠒⠒⠒◆⠒⠒⠚ ⠂ ⠂  ⠂    ⠂\n"
        " 8192 ┤        ⡀ ⡀  ⡀    ⡀\n"
        "      └┬───────────────┬───────────────┬\n"
        "       0              10              20\n"
        "  ◆ dynamic  32768\n");
}

TEST_CASE("where a loss was not finite for a while there is a gap") {
  Panel panel = two_losses();
  panel.curves.resize(1);
  panel.group.resize(1);
  for (std::size_t i = 7; i < 12; ++i) panel.curves[0].mean[i] = std::nan("");
  CHECK(terminal_chart(panel, unicode, {.height = 4}) ==
        "Training loss\n"
        "2 ┤  ⠒●⠢⠤⢄⣀⣀⣀\n"
        "1 ┤          ⠉●⠒⠂\n"
        "  │                       ●⠒●⠢⠤⢄⣀⣀⣀\n"
        "0 ┤                                ⠉●⠒⠒⠒\n"
        "  └┬─────────────────┬─────────────────┬\n"
        "   0                10                20\n"
        "  ● FP32  0.2\n");
}

TEST_CASE("what lies outside the canvas is not drawn") {
  Canvas canvas(2, 1, unicode);
  for (const int off : {-1, 4}) {
    canvas.dot(off, 0, 0);
    canvas.dot(0, off, 0);
    canvas.put(off, 0, "x", 0);
  }
  CHECK(canvas.row(0).empty());
  canvas.dot(3, 3, 0);
  CHECK(canvas.row(0) == " ⢀");
}

TEST_CASE("colour comes on top of the markers, never instead of them") {
  TerminalStyle coloured = unicode;
  coloured.colour = true;
  std::string text = terminal_chart(two_losses(), coloured, {.height = 6});
  CHECK(text.find("\x1b[38;5;166m▲\x1b[0m") != std::string::npos);
  std::string stripped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      stripped += text[i];
    }
  }
  CHECK(stripped == terminal_chart(two_losses(), unicode, {.height = 6}));
}

TEST_CASE("every chart keeps to the width, whatever the curves are") {
  const std::vector<ReportSection> sections = {sample::small_updates(), sample::small_gradients(),
                                               sample::hostile()};
  for (const ReportSection& section : sections) {
    const std::vector<Group> groups = group_by_recipe(section.runs);
    for (const Panel& panel : make_panels(groups)) {
      for (const TerminalStyle& style : {TerminalStyle{true, false, 80}, TerminalStyle{false, false, 80},
                                         TerminalStyle{true, false, 47}, TerminalStyle{true, false, 300}}) {
        for (const std::string& line : lines_of(terminal_chart(panel, style, {.band = true}))) {
          INFO(line);
          CHECK(display_width(line) <= std::min(style.width, 100));
          if (!style.unicode)
            CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < 127; }));
        }
      }
    }
  }
}

TEST_CASE("a curve that was never finite, one point, equal values: drawn without harm") {
  Panel panel = two_losses();
  panel.curves[0] = curve_of("never", [](int) { return std::nan(""); });
  panel.curves[0].ends.push_back({0, std::nan(""), 1});
  panel.curves[1] = curve_of("flat", [](int) { return 2.5; });
  const std::string text = terminal_chart(panel, unicode, {.height = 5});
  CHECK(text.find("✗") != std::string::npos);
  CHECK(text.find("never  ✗ not finite from step 1\n") != std::string::npos);
  CHECK(text.find("flat  2.5\n") != std::string::npos);
  panel.curves.erase(panel.curves.begin() + 1);
  CHECK(lines_of(terminal_chart(panel, unicode, {.height = 5})).size() == 9);
}

TEST_CASE("ticks are round, and every value has its place") {
  const Axis losses(Scale::linear, 0.0421, 0.2307, 5);
  std::vector<std::string> labels;
  for (const Tick& tick : losses.ticks()) labels.push_back(tick.label);
  CHECK(labels == std::vector<std::string>{"0", "0.05", "0.1", "0.15", "0.2", "0.25"});
  CHECK(losses.position(0.125) == Approx(0.5));
  CHECK(std::isnan(losses.position(std::nan(""))));

  const Axis decades(Scale::decades, 0.02, 700, 10);
  CHECK(decades.ticks().front().label == "0.01");
  CHECK(decades.ticks().back().label == "1000");
  CHECK(decades.position(1) == Approx(0.4));
  CHECK(std::isnan(decades.position(0)));
  CHECK(std::isnan(decades.position(-1)));

  const Axis powers(Scale::powers_of_two, 1, 0x1p16, 9);
  CHECK(powers.ticks().size() == 9);
  CHECK(powers.position(256) == 0.5);
  CHECK(Axis(Scale::powers_of_two, 0x1p-30, 0x1p30, 5).ticks().size() <= 5);

  CHECK(Axis(Scale::share, 0, 0, 5).ticks().front().label == "0 %");
  CHECK(Axis(Scale::share, 0, 1, 5).ticks().back().label == "100 %");
  for (const double value : {0.0, -3.0, 1e-300, 1e300, -1e12}) {  // flat lines
    const Axis flat(Scale::linear, value, value, 5);
    CHECK(flat.position(value) >= 0);
    CHECK(flat.position(value) <= 1);
    CHECK(flat.ticks().size() >= 2);
  }
  const Axis far_off(Scale::linear, 1e9, 1e9 + 1, 5);
  CHECK(far_off.ticks().size() >= 2);
  CHECK(far_off.ticks().size() < 12);
  CHECK(far_off.position(1e9 + 0.5) == Approx(0.5).margin(0.2));
  CHECK(Axis(Scale::linear, std::nan(""), std::nan(""), 5).ticks().size() >= 2);
}

TEST_CASE("a section in the terminal: question, charts, table, verdict") {
  std::ostringstream out;
  print_section(out, sample::small_gradients(), {.unicode = false, .colour = false, .width = 80});
  const std::string text = out.str();
  std::size_t at = 0;
  for (const char* part : {"Do small gradients survive?", "Training loss, mean of 3 seeds", "Loss scale S",
                           "Gradients flushed to zero", "test MSE", "Not without a loss scale"}) {
    INFO(part);
    const std::size_t found = text.find(part, at);
    CHECK(found != std::string::npos);
    at = found;
  }
  for (const std::string& line : lines_of(text)) CHECK(line.size() <= 80);
  ReportSection silent = sample::small_gradients();
  silent.verdict.clear();
  std::ostringstream short_text;
  print_section(short_text, silent, {.unicode = false});
  const std::string without = short_text.str();
  CHECK(without.substr(without.size() - 2) != "\n\n");
  CHECK(text.find(without) == 0);
  std::ostringstream empty;
  print_section(empty, {"Nothing yet?", "Nothing.", {}}, {.unicode = false});
  CHECK(empty.str() == "Nothing yet?\n\n\nNothing.\n");
}

TEST_CASE("what became infinite first stands under the table, once for all seeds") {
  ReportSection section = sample::small_gradients();
  std::size_t which = 0;
  for (Run& run : section.runs) {
    if (run.header.name != "FP16, S = 2^28") continue;
    tinymp::train::Finding finding;
    finding.sentence = tinymp::concat("Step ", ++which, ", backward: \"linear\" <overflows>\n.");
    run.findings.push_back(finding);
  }
  CHECK(which == 3);
  section.runs.back().findings.clear();
  std::ostringstream out;
  print_section(out, section, {.unicode = false, .colour = false, .width = 200});
  const std::string text = out.str();
  const std::size_t at = text.find(
      "\nFP16, S = 2^28, seed 0 (2 of 3 seeds have one): Step 1, backward: \"linear\" <overflows>?.\n");
  CHECK(at != std::string::npos);
  CHECK(at > text.find("test MSE"));
  CHECK(at < text.find("Not without a loss scale"));
  CHECK(text.find("Step 2, backward") == std::string::npos);

  for (Run& run : section.runs)
    std::erase_if(run.findings, [&](const auto&) { return run.header.seed == 0; });
  const std::string page = html_report("Report", std::vector<ReportSection>{section});
  CHECK(page.find(
            "<p class=\"finding\"><b>1</b> FP16, S = 2^28, seed 1 (1 of 3 seeds have one): Step 2, backward: "
            "&quot;linear&quot; &lt;overflows&gt;\n.</p>") != std::string::npos);
  ReportSection alone = section;
  std::erase_if(alone.runs, [](const Run& run) { return run.header.seed != 1; });
  std::ostringstream single;
  print_section(single, alone, {.unicode = false, .colour = false, .width = 200});
  CHECK(single.str().find("\nFP16, S = 2^28: Step 2, backward:") != std::string::npos);
}
