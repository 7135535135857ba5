#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// verify-all --first-seed: what every lesson claims, on seeds that its limits were not set by.
namespace tinymp::lab {

class KeptLog;

/// Runs every lesson on seeds F, F + 1, ... for each F of `first_seeds`, each run with `arguments`, and
/// writes the claims, each once: the figures on record first, those of results.json beside the chapter, then
/// those of each F. Results lie in `runs`. Returns how many lessons have a claim that fails; nothing where
/// one lacks something, which it has told.
std::optional<int> claims_on_other_seeds(KeptLog& log, const std::vector<std::uint64_t>& first_seeds,
                                         const std::vector<std::string>& arguments, const std::string& runs);

}  // namespace tinymp::lab
