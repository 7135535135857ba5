#pragma once

#include <lessons/lab/report/assets.h>
#include <lessons/lab/report/section.h>
#include <span>
#include <string>

/// A report as one self-contained page: no request leaves it, it works from a disk, on paper and without
/// scripts.
namespace tinymp::report {

struct HtmlOptions {
  /// Live charts (zoom, smoothing, log scale). Without dygraphs, and where no script runs, the page shows the
  /// terminal's charts and says why.
  bool live = !dygraphs_js().empty();
  std::string note{};  ///< a line under the title
};

/// For each section: question, verdict, table, findings, charts, and in a fold where the figures come from.
std::string html_report(const std::string& title, std::span<const ReportSection> sections,
                        HtmlOptions options = {});

/// Writes the page beside `path` first and then renames it, so that a full disk leaves an older report as it
/// was. Throws Error naming the path, the reason and the way out.
void write_report(const std::string& path, const std::string& title, std::span<const ReportSection> sections,
                  HtmlOptions options = {});

}  // namespace tinymp::report
