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

/// Of the groups whose gradients are not FP32 (of all, where there are none) the one that loses most of them,
/// and of those without an FP32 master the one that loses most of its updates: bars, sentences, a row for
/// each parameter; of the others a sentence. Where next to nothing is lost there are no bars. Empty when no
/// step was looked at closely.
std::string terminal_sizes(std::span<const Group> groups, const TerminalStyle& style);

}  // namespace tinymp::report
