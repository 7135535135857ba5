#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <lessons/lab/classroom/fence.h>
#include <lessons/lab/classroom/refused_calls.h>

// Landlock and the filter of system calls, by raw system calls: the C library has no functions for them, and
// on many systems the headers are older than the kernel.
namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;
constexpr std::uint64_t execute = 1 << 0, write_old = 1 << 1, read_old = 1 << 2, read_folder = 1 << 3;
constexpr std::uint64_t all_of_version_3 = (1 << 15) - 1;  // truncate is the last
constexpr std::uint64_t device_calls = 1 << 15;            // version 5

struct Ruleset {
  std::uint64_t files, network, scope;
};
struct [[gnu::packed]] Beneath {
  std::uint64_t allowed;
  std::int32_t folder;
};

void allow(int rules, const fs::path& path, std::uint64_t what) {
  const int folder = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (folder < 0) return;  // a path that does not exist needs no rule
  std::error_code none;
  if (!fs::is_directory(path, none)) what &= execute | write_old | read_old | (1 << 14) | device_calls;
  const Beneath rule{what, folder};
  syscall(add_rule, rules, 1, &rule, 0);
  close(folder);
}

}  // namespace

int landlock_rules(const Sandbox& sandbox) {
  const long version = syscall(create_ruleset, nullptr, 0, 1);
  if (version < 3) return -1;  // earlier versions do not keep files from being truncated
  Ruleset set{all_of_version_3, 0, 0};
  if (version >= 4) set.network = 0b11;  // TCP: bind and connect
  if (version >= 5) set.files |= device_calls;
  if (version >= 6) set.scope = 0b11;  // abstract sockets and signals do not cross the fence
  const std::size_t size = version >= 6 ? sizeof set : version >= 4 ? 16 : 8;
  const int rules = static_cast<int>(syscall(create_ruleset, &set, size, 0));
  if (rules < 0) return -1;
  const std::uint64_t look = execute | read_old | read_folder;
  for (const char* const folder : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",
                                   "/etc/alternatives", "/etc/ld.so.cache"})
    allow(rules, folder, look);
  for (const char* const device : {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
    allow(rules, device, read_old | write_old);
  for (const fs::path& path : sandbox.reads) allow(rules, path, look);
  allow(rules, sandbox.folder, sandbox.writes ? set.files & ~device_calls : look);
  return rules;
}

bool obey_landlock(int rules) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(restrict_self, rules, 0) == 0;
}

bool refuse_system_calls() {
  FilterProgram program = filter_program(getpid());
  const sock_fprog whole{static_cast<unsigned short>(program.size), program.steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0) == 0;
}

int refused_system_calls() {
  const FilterProgram program = filter_program(0);
  const int file = memfd_create("refused", MFD_CLOEXEC);
  if (file < 0) return -1;
  const std::size_t bytes = program.size * sizeof(sock_filter);
  if (write(file, program.steps.data(), bytes) != static_cast<ssize_t>(bytes)) {
    close(file);
    return -1;
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

}  // namespace tinymp::classroom
