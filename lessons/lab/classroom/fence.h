#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// A fence keeps a foreign program from changing anything on this machine, and from reading more than it
/// needs.
namespace tinymp::classroom {

enum class Fence : std::uint8_t {
  none,        ///< for the learner's own code
  limits,      ///< time, memory and the size of a file only: it may write wherever its user may
  landlock,    ///< a rule of the kernel (5.13; we need 6.2): sees and writes only the named paths
  bubblewrap,  ///< a mount namespace of its own, without network: bwrap
};
std::string name_of(Fence fence);   ///< "limits only", "landlock", "bubblewrap"
std::string describe(Fence fence);  ///< the name, and what the fence does not prevent

/// A fence, and the folders that a program behind it can reach.
struct Sandbox {
  Fence fence = Fence::none;
  std::filesystem::path folder{};              ///< working folder; the program may read everything in it
  bool writes = false;                         ///< whether it may write there; it never may elsewhere
  std::vector<std::filesystem::path> reads{};  ///< what it reads beside the system's folders
};

/// Returns the best fence that works here: each one is tried with a program that does nothing, in `folder`.
/// When none but `limits` works, throws MissingError, unless `trust` says that all submissions are harmless.
Fence best_fence(const std::filesystem::path& folder, bool trust);
Fence best_of(bool bubblewrap, bool landlock, bool trust);

/// Throws UsageError when `path` lies in a folder of the system that submissions can read behind each fence.
void expect_unseen(const std::filesystem::path& path);

/// Returns the command that runs `command` in bubblewrap. `filter` is the file descriptor of a seccomp
/// filter, -1 for none.
std::vector<std::string> bubblewrap_command(const Sandbox& sandbox, const std::vector<std::string>& command,
                                            int filter);

/// Makes a file descriptor of Landlock's rules: made before a fork, obeyed after it. -1 where Landlock is
/// missing or too old.
int landlock_rules(const Sandbox& sandbox);
/// Puts this process, and all that it starts, under the rules. Called in the child after the fork. False when
/// the kernel refuses.
bool obey_landlock(int rules);

/// These refuse the system calls that a check does not need and that reach around a fence of files: sockets,
/// chmod, times, ptrace, memory without a file. The first acts on this process, in the child. The second
/// returns the file descriptor of a filter for bubblewrap, -1 when it cannot be made.
bool refuse_system_calls();
int refused_system_calls();

/// The number of the user that runs submissions when root grades. No account has this number, and each grader
/// takes another one: a limit on processes counts all processes of a user, so two graders must not share it.
unsigned user_of_submissions();

}  // namespace tinymp::classroom
