#pragma once

#include <string>

/// results.json: what a run measured, as the chapter quotes it. One lies beside each chapter, and
/// tests/lessons compares the two.
///   {"lesson": "06_loss_scaling", "verified": true, "sabotaged": "", "data": "mnist (...)", "seeds": [0, 1,
///   2],
///    "machine": {"command", "date", "commit", "processor", "compiler"},
///    "questions": [{"question", "verdict", "curves": [{"name", "values": [0.0382, ...], "mean", ...}]}],
///    "claims": [{"sentence", "holds"}], "numbers": {"name": 0.494}, "said": ["line", ...]}
/// Lists have a value for each seed. Only "machine" differs when the same commit runs once more.
namespace tinymp::lab {

/// Throws, before hours are spent, when `path` could not be written.
void expect_writable(const std::string& path);

/// Writes a part beside `path` first: an earlier file stays until this one is whole.
void write_results(const std::string& path, const std::string& json);

}  // namespace tinymp::lab
