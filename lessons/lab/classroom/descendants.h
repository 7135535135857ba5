#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

/// Finds the processes that a process started, directly or through others, in /proc.
namespace tinymp::classroom {

/// The descendants of this process, or of process `of`. After adopt_orphans() they include processes whose
/// own parents have ended.
std::vector<pid_t> descendants();
std::vector<pid_t> descendants(pid_t of);
void adopt_orphans();

std::int64_t memory_of(const std::vector<pid_t>& processes);  ///< bytes in memory
/// Processor seconds of the processes, and of those of their children that have ended and were waited for.
double seconds_of(const std::vector<pid_t>& processes);

/// Ends all descendants except `others`, even those that hide in sessions of their own or start new processes
/// all the time.
void end_descendants_but(const std::vector<pid_t>& others);

/// The number of threads that the user runs now. RLIMIT_NPROC limits this number.
std::int64_t threads_of_user(uid_t user);

}  // namespace tinymp::classroom
