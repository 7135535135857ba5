#pragma once

#include <lessons/lab/classroom/sandbox.h>
#include <string>

namespace tinymp::classroom {

/// Why a compiler did not even begin: it is not there, may not write its temporary files, was ended by
/// somebody else, or the disk is full. Its own words; empty where what it was given is to blame.
std::string machine_fault(const Finished& compiler);

}  // namespace tinymp::classroom
