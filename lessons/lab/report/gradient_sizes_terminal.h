#pragma once

#include <lessons/lab/report/gradient_sizes.h>
#include <lessons/lab/report/terminal.h>
#include <span>
#include <string>

/// The sizes of gradients and updates, drawn with characters.
namespace tinymp::report {

/// Bars on six lines, a column for each power of two, with FP16's limits as upright lines: 77 columns. On a
/// narrower terminal the title alone. What FP16 loses is drawn with another character than what it keeps.
std::string terminal_bars(const Bars& bars, const TerminalStyle& style);

/// Draws the group that loses most gradients, among those whose gradients are not FP32 (among all, where there are none),
/// and the group that loses most updates, among those without an FP32 master: bars, sentences, a row for each
/// parameter. The others get a sentence. Where next to nothing is lost there are no bars. Empty when no
/// step was looked at closely.
std::string terminal_sizes(std::span<const Group> groups, const TerminalStyle& style);

}  // namespace tinymp::report
