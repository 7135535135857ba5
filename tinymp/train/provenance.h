#pragma once

#include <string>

/// Where a result comes from: the second half of a run's header.
namespace tinymp::train {

std::string utc_now();         ///< "2026-05-04T09:30:00Z"
std::string build_commit();    ///< "44ca0ca1f20b", with "+" when the tree had changes; "unknown" without git
std::string compiler_name();   ///< "g++ 12.2.0"
std::string processor_name();  ///< "AMD EPYC 7B13"; "cpu" when the system does not tell

/// Which pieces of the library a learner wrote: "half: YOURS | scaler: REFERENCE"; empty when there are none.
std::string pieces();
std::string learner_pieces(const std::string& pieces);  ///< "half: YOURS | scaler: REFERENCE" -> "half"

}  // namespace tinymp::train
