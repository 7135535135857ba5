#pragma once

#include <lessons/lab/report/page_data.h>
#include <string>

namespace tinymp::report {

/// The table of a section (table.h) with the look of each curve, how updates were lost, and a line that
/// explains the words of its header.
std::string table_html(const PageSection& section);

}  // namespace tinymp::report
