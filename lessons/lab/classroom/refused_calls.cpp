#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>

#include <lessons/lab/classroom/refused_calls.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace tinymp::classroom {
namespace {

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
    // changes to files that Landlock does not watch
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
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setaffinity,
    SYS_sched_setparam,
    SYS_sched_setscheduler,
    SYS_sched_setattr,
    SYS_kcmp,
    SYS_migrate_pages,
    SYS_move_pages,
    438 /* pidfd_getfd */,
    440 /* process_madvise */,
    448 /* process_mrelease */,
    428 /* open_tree */,
    429 /* move_mount */,
    430 /* fsopen */,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    // memory that outlives a program, or that no limit counts
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

constexpr unsigned clone3 = 435;
/// In a namespace of its own a program would be root.
constexpr unsigned new_namespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

/// Puts a filter together. Every rule looks at the number of the call and then at the lower half of one
/// argument: the kernel takes no more of a process, a flag or a command.
class Filter {
 public:
  FilterProgram program{};

  void add(unsigned code, unsigned k, unsigned yes = 0, unsigned no = 0) {
    program.steps.at(program.size++) = {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(yes),
                                        static_cast<std::uint8_t>(no), k};
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)); }
  void load_number() { load(offsetof(seccomp_data, nr)); }
  void give(unsigned what) { add(BPF_RET | BPF_K, what); }

  void refuse(unsigned call, int error = EPERM) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    give(SECCOMP_RET_ERRNO | static_cast<unsigned>(error));
  }
  void refuse_unless(unsigned call, unsigned argument, unsigned value) {
    look(call, argument, BPF_JEQ, value, 1, 0);
  }
  void refuse_if(unsigned call, unsigned argument, unsigned value) {
    look(call, argument, BPF_JEQ, value, 0, 1);
  }
  void refuse_if_any(unsigned call, unsigned argument, unsigned bits) {
    look(call, argument, BPF_JSET, bits, 0, 1);
  }

 private:
  void look(unsigned call, unsigned argument, unsigned compare, unsigned value, unsigned yes, unsigned no) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    load(offsetof(seccomp_data, args) + 8 * argument);
    add(BPF_JMP | compare | BPF_K, value, yes, no);
    give(SECCOMP_RET_ERRNO | EPERM);
    load_number();
  }
};

}  // namespace

FilterProgram filter_program(int own) {
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, this_machine, 1);
  filter.give(SECCOMP_RET_KILL_PROCESS);
  filter.load_number();
  filter.add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);  // x32: other numbers for the same calls
  filter.give(SECCOMP_RET_ERRNO | EPERM);
  for (const unsigned call : refused) filter.refuse(call);
  filter.refuse_unless(SYS_prlimit64, 0, 0);                                      // its own limits only
  if (own != 0) filter.refuse_unless(SYS_tgkill, 0, static_cast<unsigned>(own));  // raise() and abort()
  filter.refuse_if_any(SYS_clone, 0, new_namespaces);
  filter.refuse(clone3, ENOSYS);  // its flags lie in memory; the C library then takes clone
  // These make a pipe report its bytes to another process, by a signal of the caller's choice.
  for (const int command : {F_SETOWN, F_SETOWN_EX, F_SETSIG})
    filter.refuse_if(SYS_fcntl, 1, static_cast<unsigned>(command));
  filter.give(SECCOMP_RET_ALLOW);
  return filter.program;
}

}  // namespace tinymp::classroom
