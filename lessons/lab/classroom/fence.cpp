#include <lessons/lab/classroom/fence.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/sandbox.h>
#include <tinymp/base/error.h>
#include <array>
#include <cstdint>
#include <fstream>
#include <random>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

void add(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

bool runs_behind(Fence fence, const fs::path& folder) {
  const Finished finished = run({"/bin/sh", "-c", "exit 0"}, {.seconds = 10}, {fence, folder});
  return finished.code == 0;
}

}  // namespace

std::string name_of(Fence fence) {
  switch (fence) {
    case Fence::none:
      return "none";
    case Fence::limits:
      return "limits only";
    case Fence::landlock:
      return "landlock";
    case Fence::bubblewrap:
      break;
  }
  return "bubblewrap";
}

std::string describe(Fence fence) {
  switch (fence) {
    case Fence::limits:
      return "limits only. Neither bubblewrap nor Landlock works here: a submission may write wherever you "
             "may. Grade nobody's but your own.";
    case Fence::landlock:
      return "landlock. A submission can write nowhere; with bubblewrap (not here, or not allowed) it would "
             "not see other programs either.";
    case Fence::none:
    case Fence::bubblewrap:
      break;
  }
  return name_of(fence) + ".";
}

Fence best_of(bool bubblewrap, bool landlock, bool trust) {
  if (bubblewrap) return Fence::bubblewrap;
  if (landlock) return Fence::landlock;
  if (trust) return Fence::limits;
  throw MissingError(
      "here nothing keeps a submission from writing wherever you may: no bubblewrap that works, no Landlock "
      "(Linux 6.2 or newer). Install bubblewrap, in a container allow user namespaces, or grade on another "
      "machine; --trust grades all the same, for submissions that are known to be harmless");
}

Fence best_fence(const fs::path& folder, bool trust) {
  const bool bubblewrap = runs_behind(Fence::bubblewrap, folder);
  return best_of(bubblewrap, !bubblewrap && runs_behind(Fence::landlock, folder), trust);
}

void expect_unseen(const fs::path& path) {
  for (const char* const seen : {"/usr", "/opt"})
    if (lies_in(path, seen))
      throw UsageError(concat(path.string(), " lies in ", seen,
                              ", where each submission may read what others have handed in and what they "
                              "got; name a folder elsewhere"));
}

std::vector<std::string> bubblewrap_command(const Sandbox& sandbox, const std::vector<std::string>& command,
                                            int filter) {
  std::vector<std::string> words{"bwrap",         "--unshare-all", "--die-with-parent",
                                 "--new-session", "--cap-drop",    "ALL",
                                 "--ro-bind",     "/usr",          "/usr"};
  for (const std::string folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code none;
    if (fs::is_symlink(folder, none))
      add(words, {"--symlink", fs::read_symlink(folder, none).string(), folder});
    else
      add(words, {"--ro-bind-try", folder, folder});
  }
  // Not all of /etc: it holds secrets of root, and the submission may run as root.
  for (const std::string part : {"/opt", "/etc/alternatives", "/etc/ld.so.cache"})
    add(words, {"--ro-bind-try", part, part});
  for (const std::string device : {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
    add(words, {"--dev-bind-try", device, device});
  for (const fs::path& path : sandbox.reads) add(words, {"--ro-bind", path.string(), path.string()});
  add(words, {sandbox.writes ? "--bind" : "--ro-bind", sandbox.folder.string(), sandbox.folder.string()});
  // The root folder that bubblewrap makes for these mounts lies in memory. Read-only, it cannot be filled.
  add(words, {"--remount-ro", "/", "--chdir", sandbox.folder.string()});
  if (filter >= 0) add(words, {"--seccomp", std::to_string(filter)});
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

unsigned user_of_submissions() {
  // No account has these numbers. systemd keeps 61184 to 65519 for temporary users, and leaves 1,900,000,000
  // to 1,999,999,999 alone; a container may lack the second range. The number is random because the kernel
  // adds up the processes of two containers under the same number.
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 0, outside = 0, users = 0;
  map >> inside >> outside >> users;
  const bool all = inside == 0 && users > 2'000'000'000;
  static const unsigned chance = std::random_device{}();
  return all ? 1'900'000'000 + chance % 100'000'000 : 61184 + chance % 4336;
}

}  // namespace tinymp::classroom
