#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// What keeps a foreign program from changing anything on this machine, and from reading more than
/// it needs.
namespace tinymp::classroom {

enum class Fence : std::uint8_t {
  none,        ///< for one's own code
  limits,      ///< time, memory and the size of a file only: it may write wherever its user may
  landlock,    ///< a rule of the kernel (5.13; we want 6.2): it sees and writes nothing but what is named
  bubblewrap,  ///< a mount namespace of its own, without network: bwrap
};
std::string name_of(Fence fence);   ///< "limits only", "landlock", "bubblewrap"
std::string describe(Fence fence);  ///< the same, and what it does not keep from happening

/// A fence, and what a program behind it can reach.
struct Sandbox {
  Fence fence = Fence::none;
  std::filesystem::path folder{};              ///< it works here, and sees what is in it
  bool writes = false;                         ///< may it write there? It never may anywhere else
  std::vector<std::filesystem::path> reads{};  ///< what it sees beside the folders of the system
};

/// The best that works here, tried with a program that does nothing, in `folder`. Where only limits do,
/// no submission is judged (MissingError) unless `trust` says that all of them are harmless.
Fence best_fence(const std::filesystem::path& folder, bool trust);
Fence best_of(bool bubblewrap, bool landlock, bool trust);

/// Throws UsageError where `path` lies in a folder of the system: behind each fence submissions see those.
void expect_unseen(const std::filesystem::path& path);

/// `command` as bubblewrap starts it. `filter` is the file of the system calls that it refuses, -1 for none.
std::vector<std::string> bubblewrap_command(const Sandbox& sandbox, const std::vector<std::string>& command,
                                            int filter);

/// Landlock's rules as a file: made before a fork, in force after it. -1 where the kernel has none.
int landlock_rules(const Sandbox& sandbox);
/// In the child: from here on it and all that it starts obey the rules. Says whether they are in force.
bool obey_landlock(int rules);

/// System calls that a check has no use for, and that reach around a fence of files: sockets, chmod, times,
/// ptrace, memory without a file. In the child; and as a file for bubblewrap.
bool refuse_system_calls();
int refused_system_calls();

/// The user that runs submissions where root grades: a number that no account has, and each grader another
/// one. A limit on processes counts all that a user runs, so submissions of two graders must not share it.
unsigned user_of_submissions();

}  // namespace tinymp::classroom
