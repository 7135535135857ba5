#pragma once

#include <tinymp/train/run_log.h>
#include <string_view>

/// The line of a logged step, read without a JSON parser. Nearly all lines of a log are of this kind.
namespace tinymp::train {

/// Reads `line` into `record` and returns true when it is an object of fields that LogRecord has, each once, written
/// without spaces, with a step and a loss among them. Then `record` is what the JSON parser makes of it, bit for bit.
/// Returns false for any other line, right or wrong: the caller gives it to the parser. `record` is then undefined.
bool read_step_line(std::string_view line, LogRecord& record);

}  // namespace tinymp::train
