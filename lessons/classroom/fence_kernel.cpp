#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <lessons/classroom/fence.h>
#include <array>
#include <cerrno>
#include <cstddef>

// Landlock and the filter of system calls, by raw calls: the C library has no functions for them, and the
// headers of many systems are older than their kernels.
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
  if (folder < 0) return;  // what is not there need not be allowed
  std::error_code none;
  if (!fs::is_directory(path, none)) what &= execute | write_old | read_old | (1 << 14) | device_calls;
  const Beneath rule{what, folder};
  syscall(add_rule, rules, 1, &rule, 0);
  close(folder);
}

#if defined(__x86_64__)
constexpr unsigned this_machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned this_machine = AUDIT_ARCH_AARCH64;
#endif

constexpr unsigned refused[] = {
    // the network, and other ways around files
    SYS_socket,
    SYS_socketpair,
    SYS_io_uring_setup,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    // of files, what Landlock does not watch
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    452 /* fchmodat2 */,
    463 /* setxattrat */,
    466 /* removexattrat */,
    SYS_quotactl,
    // other programs
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kill,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_setns,
    SYS_unshare,
    SYS_mount,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    // memory that outlives a program, or that nobody counts
    SYS_memfd_create,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
#if defined(__x86_64__)
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
};

constexpr std::size_t count = std::size(refused);

std::array<sock_filter, count + 7> filter_program() {
  constexpr auto with = [](unsigned code, unsigned k, std::size_t yes = 0, std::size_t no = 0) {
    return sock_filter{static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(yes),
                       static_cast<std::uint8_t>(no), k};
  };
  constexpr unsigned load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K,
                     at_least = BPF_JMP | BPF_JGE | BPF_K, give = BPF_RET | BPF_K;
  std::array<sock_filter, count + 7> program{};
  std::size_t i = 0;
  program[i++] = with(load, offsetof(seccomp_data, arch));
  program[i++] = with(equal, this_machine, 1);
  program[i++] = with(give, SECCOMP_RET_KILL_PROCESS);
  program[i++] = with(load, offsetof(seccomp_data, nr));
  program[i++] = with(at_least, 0x40000000, count + 1);  // x32: other numbers for the same calls
  for (std::size_t n = 0; n < count; ++n) program[i++] = with(equal, refused[n], count - n);
  program[i++] = with(give, SECCOMP_RET_ALLOW);
  program[i++] = with(give, SECCOMP_RET_ERRNO | EPERM);
  return program;
}

}  // namespace

int landlock_rules(const Place& place) {
  const long version = syscall(create_ruleset, nullptr, 0, 1);
  if (version < 3) return -1;  // earlier ones let files be truncated
  Ruleset set{all_of_version_3, 0, 0};
  if (version >= 4) set.network = 0b11;  // TCP: bind and connect
  if (version >= 5) set.files |= device_calls;
  if (version >= 6) set.scope = 0b11;  // abstract sockets and signals end at the fence
  const std::size_t size = version >= 6 ? sizeof set : version >= 4 ? 16 : 8;
  const int rules = static_cast<int>(syscall(create_ruleset, &set, size, 0));
  if (rules < 0) return -1;
  const std::uint64_t look = execute | read_old | read_folder;
  for (const char* const folder : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",
                                   "/etc/alternatives", "/etc/ld.so.cache"})
    allow(rules, folder, look);
  for (const char* const device : {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
    allow(rules, device, read_old | write_old);
  for (const fs::path& path : place.reads) allow(rules, path, look);
  allow(rules, place.folder, place.writes ? set.files & ~device_calls : look);
  return rules;
}

bool obey_landlock(int rules) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(restrict_self, rules, 0) == 0;
}

bool refuse_system_calls() {
  auto program = filter_program();
  const sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0) == 0;
}

int refused_system_calls() {
  const auto program = filter_program();
  const int file = memfd_create("refused", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (write(file, program.data(), sizeof program) != static_cast<ssize_t>(sizeof program)) {
    close(file);
    return -1;
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

}  // namespace tinymp::classroom
