#include <lessons/lab/report/assets.h>
#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/html.h>
#include <lessons/lab/report/html_parts.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/sentences.h>
#include <lessons/lab/report/terminal_curves.h>
#include <lessons/lab/report/thin.h>
#include <lessons/lab/report/write_file.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <set>
#include <utility>

namespace tinymp::report {
namespace {

/// The page may fetch nothing. The browser enforces it, even where an escape below is wrong.
constexpr const char* security =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The licence of dygraphs asks for its notice in every copy.
constexpr const char* dygraphs_notice =
    "<!-- dygraphs, https://dygraphs.com, (c) Dan Vanderkam and contributors. MIT licence: permission is "
    "hereby "
    "granted, free of charge, to any person obtaining a copy of this software and associated documentation "
    "files, to "
    "deal in the software without restriction, including without limitation the rights to use, copy, modify, "
    "merge, "
    "publish, distribute, sublicense, and/or sell copies, subject to this: the above copyright notice and "
    "this "
    "permission notice shall be included in all copies or substantial portions. The software is provided "
    "\"as is\", "
    "without warranty of any kind, express or implied; in no event shall the authors be liable for any "
    "claim, damages "
    "or other liability arising from it or its use. -->\n";

constexpr const char* keys =
    "<p class=\"lede hint\">Drag over a chart to zoom, Shift and drag to move, double-click to go back. With "
    "the "
    "keyboard: <kbd>Tab</kbd> to the charts, <kbd>←</kbd> <kbd>→</kbd> move the cursor (with "
    "<kbd>Shift</kbd> ten "
    "points), <kbd>Home</kbd> <kbd>End</kbd>, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>0</kbd> goes back, "
    "<kbd>Esc</kbd> takes the cursor away.</p>\n";

/// A source map is a file beside the script; a page that holds everything has none.
std::string_view without_source_map(std::string_view script) {
  const std::size_t at = script.rfind("\n//# sourceMappingURL");
  return at == std::string_view::npos ? script : script.substr(0, at + 1);
}
std::string_view without_css_source_map(std::string_view css) {
  const std::size_t at = css.rfind("/*# sourceMappingURL");
  return at == std::string_view::npos ? css : css.substr(0, at);
}

/// Hidden until the script brings them to life.
std::string controls_html(const PageSection& section) {
  std::string text = "<div class=\"controls\" hidden><fieldset class=\"chips\" aria-label=\"Curves\">\n";
  for (std::size_t i = 0; i < section.groups.size(); ++i) {
    text += concat("<label data-curve=\"", i, "\"><input type=\"checkbox\" checked>", swatch(i), "<span>",
                   escape_html(section.groups[i].name), "</span></label>\n");
  }
  const bool log = !section.panels.empty() && section.panels[0].scale == Scale::decades;
  return text +
         concat(
             "</fieldset>\n<div class=\"tools\"><button type=\"button\" class=\"all\">all</button><button "
             "type=\"button\" class=\"none\">none</button><label>smoothing <input class=\"smooth\" "
             "type=\"range\" min=\"0\" max=\"0.98\" step=\"0.02\" value=\"0\"><output "
             "class=\"weight\">0.00</output></label>\n<label><input class=\"log\" type=\"checkbox\"",
             log ? " checked" : "",
             "> log scale</label>\n<button type=\"button\" class=\"reset\">reset zoom</button></div>"
             "<p class=\"smoothed\" hidden>The lines are smoothed: a moving average that forgets. Faint, "
             "bands and the values below: as measured.</p></div>\n");
}

std::string caption(const Panel& panel, bool is_first, bool live) {
  std::size_t seeds = 0;
  for (const Curve& curve : panel.curves) seeds = std::max(seeds, curve.seeds);
  const bool explain = is_first && seeds > 1;
  const std::string notes =
      explain ? concat("mean of ", seeds, " seeds", live ? ", shaded from the smallest to the largest" : "")
              : "";
  return concat("<figcaption><strong>", escape_html(panel.title), "</strong>",
                notes.empty() ? "" : "<span>" + notes + "</span>",
                "<output class=\"readout\"></output></figcaption>\n");
}

/// The terminal's chart without its title: what a page shows until its script draws, and where none does. In
/// ASCII, for in a browser Braille patterns may be wider than other characters.
std::string still_chart(const Panel& panel, bool is_wide) {
  const TerminalStyle style{.unicode = false, .colour = false, .width = is_wide ? 100 : 52};
  const std::string chart = terminal_chart(panel, style, {.height = is_wide ? 14 : 8});
  return concat("<pre class=\"still\" role=\"img\" aria-label=\"", escape_html(describe_panel(panel)), "\">",
                escape_html(chart.substr(chart.find('\n') + 1)), "</pre>");
}

constexpr std::size_t most_covered = 6;

/// Why a curve stops, and why one is not seen, in words.
std::string notes_html(const Panel& panel) {
  std::string text;
  for (const Curve& curve : panel.curves) {
    if (curve.ends.empty()) continue;
    text += concat("<p>✗ ", escape_html(curve.name), ": the loss is not a finite number from ",
                   ends_text(curve), ".</p>\n");
  }
  const std::vector<std::string> covered = covered_words(panel);
  if (covered.size() > most_covered)
    return text + concat("<p>", covered.size(), " curves coincide with others, which cover them.</p>\n");
  for (const std::string& words : covered) text += "<p>" + escape_html(words) + ".</p>\n";
  return text;
}

std::string figure_html(const Panel& panel, bool is_first, bool live) {
  return "<figure class=\"panel card\">\n" + caption(panel, is_first, live) + still_chart(panel, is_first) +
         "<div class=\"live\" hidden></div>\n" + notes_html(panel) + "</figure>\n";
}

/// The charts and all that belongs to them. `figures`: figure_html() of each panel.
std::string charts_html(const PageSection& section, const std::string& figures) {
  if (section.panels.empty()) return "";
  std::string text = controls_html(section) + "<div class=\"panels\">\n" + figures + "</div>\n";
  if (section.steps_a_point > 1)
    text += concat(
        "<p class=\"glossary thinned\">Thinned, so that the page stays small: where a log has more, a "
        "point is the mean of up to ",
        section.steps_a_point, " steps. The logs have all.</p>\n");
  return text + "<div class=\"readings\" hidden></div>\n";
}

std::string findings_html(const PageSection& section) {
  std::string text;
  std::size_t number = 0;
  for (const FindingLine& finding : finding_lines(section.groups))
    text += concat("<p class=\"finding\"><b>", ++number, "</b> ", escape_html(finding.text), "</p>\n");
  return text.empty() ? "" : "<div class=\"findings\">\n" + text + "</div>\n";
}

std::string section_html(const ReportSection& given, const PageSection& section, const std::string& figures) {
  const std::string question = given.question.empty() ? "Recorded runs" : given.question;
  std::string text = "<section class=\"question\">\n<h2>" + escape_html(question) + "</h2>\n";
  if (!given.verdict.empty()) text += "<p class=\"verdict\">" + escape_html(given.verdict) + "</p>\n";
  if (section.groups.empty()) return text + "</section>\n";
  const Comparison comparison = compare_groups(section.groups, given.view);
  return text + summary_html(section) + comparison_html(comparison, given.view) + findings_html(section) +
         charts_html(section, figures) + heat_maps_html(section.groups) + sizes_html(section.groups) +
         recipes_html(section.groups, comparison) + memory_html(section.groups) +
         provenance_html(section.groups) + "</section>\n";
}

/// Curves of a section, and how much room of the page each has.
PageSection page_section(const ReportSection& given, std::size_t numbers_a_curve, bool live,
                         std::string& figures) {
  PageSection page{groups_of(given.runs, given.view), {}, 1, given.view.x};
  each_panel(page.groups, page_quantities, [&](Panel panel) {
    put_against(panel, page.groups, page.x);
    if (panel.curves.empty()) return;
    figures += figure_html(panel, page.panels.empty(), live);
    if (is_held(panel.quantity))
      for (Curve& curve : panel.curves) curve = without_repeats(curve);
    page.steps_a_point =
        std::max(page.steps_a_point, thin_for_page({&panel, 1}, numbers_of_a_page(page.groups.size())));
    page.panels.push_back(std::move(panel));
  });
  page.steps_a_point =
      std::max(page.steps_a_point, thin_for_page(page.panels, numbers_a_curve * page.groups.size()));
  return page;
}

/// "12 runs · 2026-05-04 · commit 44ca0ca1f20b"
std::string lede(std::span<const ReportSection> sections) {
  std::size_t runs = 0;
  std::set<std::string> days, commits;
  for (const ReportSection& section : sections) {
    runs += section.runs.size();
    for (const Run& run : section.runs) {
      if (run.header.date.size() >= 10) days.insert(run.header.date.substr(0, 10));
      if (!run.header.commit.empty()) commits.insert(run.header.commit);
    }
  }
  std::string text = concat(runs, runs == 1 ? " run" : " runs");
  if (!days.empty()) text += " · " + *days.begin() + (days.size() > 1 ? " to " + *days.rbegin() : "");
  if (commits.size() == 1) text += " · commit " + *commits.begin();
  return text;
}

std::string head_html(const std::string& title, bool live) {
  return concat(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
      "<meta http-equiv=\"Content-Security-Policy\" content=\"", security, "\">\n",
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
      escape_html(title), "</title>\n<style>\n", live ? without_css_source_map(dygraphs_css()) : "", "\n",
      page_css(), "</style>\n</head>\n");
}

std::string foot_html(const std::string& data, bool live) {
  return concat("<footer>Made by tinymp", live ? "; charts by dygraphs" : "",
                ".</footer>\n</div>\n<div id=\"tinymp-status\" hidden></div>\n",
                "<script type=\"application/json\" id=\"tinymp-data\">", escape_script(data), "</script>\n",
                live ? dygraphs_notice : "", live ? "<script>" : "",
                live ? without_source_map(dygraphs_js()) : "", live ? "</script>\n" : "", "<script>\n",
                page_js(), "</script>\n</body>\n</html>\n");
}

}  // namespace

std::string html_report(const std::string& title, std::span<const ReportSection> sections,
                        HtmlOptions options) {
  const bool live = options.live && !dygraphs_js().empty();
  std::size_t curves = 0;
  for (const ReportSection& section : sections) curves += groups_of(section.runs, section.view).size();
  const std::size_t numbers_a_curve = numbers_of_a_page(curves) / std::max<std::size_t>(1, curves);
  std::vector<PageSection> pages;
  std::string body;
  for (const ReportSection& section : sections) {
    std::string figures;
    pages.push_back(page_section(section, numbers_a_curve, live, figures));
    body += section_html(section, pages.back(), figures);
  }
  std::string text = head_html(title, live) + "<body>\n<div class=\"page\">\n<header><h1>" +
                     escape_html(title) + "</h1>\n<p class=\"lede\">" + escape_html(lede(sections)) +
                     "</p>\n";
  if (live) text += keys;
  if (!options.note.empty()) text += "<p class=\"notice\">" + escape_html(options.note) + "</p>\n";
  text +=
      live ? "<noscript><p class=\"notice\">The charts are drawn with characters: this page's script, which "
             "draws them live, may not run here.</p></noscript>\n"
           : "<p class=\"notice\">The charts are drawn with characters: dygraphs was not there when tinymp "
             "was "
             "built. Install libjs-dygraphs and build again for live ones, to zoom in.</p>\n";
  return text + "</header>\n<main>\n" + body + "</main>\n" + foot_html(page_data(pages), live);
}

void write_report(const std::string& path, const std::string& title, std::span<const ReportSection> sections,
                  HtmlOptions options) {
  write_whole(path, html_report(title, sections, options), "the report");
}

}  // namespace tinymp::report
