#pragma once

#include <lessons/lab/report/curves.h>
#include <span>
#include <string>

namespace tinymp::report {

/// A fold with what a reader needs to make the same figures: what all runs of a section have in common, then
/// one row a run.
std::string provenance_html(std::span<const Group> groups);

}  // namespace tinymp::report
