#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

/// Programs that a program started, and those that they started, as /proc shows them.
namespace tinymp::classroom {

/// The descendants of this process, or of another one. After adopt_orphans() they include those whose own parents have
/// ended.
std::vector<pid_t> descendants();
std::vector<pid_t> descendants(pid_t of);
void adopt_orphans();

std::int64_t memory_of(const std::vector<pid_t>& processes);  ///< bytes in memory
/// Seconds for which they have had a processor, and those of their children that they have waited for.
double seconds_of(const std::vector<pid_t>& processes);

/// Ends all descendants but those in `others`, however they hide: in sessions of their own, or by starting
/// new ones all the time.
void end_descendants_but(const std::vector<pid_t>& others);

/// All threads of a user that run now: what a limit on their number counts.
std::int64_t threads_of_user(uid_t user);

}  // namespace tinymp::classroom
