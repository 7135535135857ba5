#pragma once

#include <cstdint>

namespace tinymp::lab {

/// Settings for the mpirun that this process starts, unless the user has made them: also as root, with more ranks than cores,
/// and each rank with its share of the threads.
void set_up_mpirun(std::int64_t ranks);

}  // namespace tinymp::lab
