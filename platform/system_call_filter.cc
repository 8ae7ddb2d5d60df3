#include "platform/system_call_filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>

namespace evo {
namespace {

// What no worker needs, under any name that a kernel knows it by.
constexpr auto kNetwork = std::to_array<const char*>({"socket", "connect", "accept", "accept4", "bind", "listen"});
constexpr auto kOtherProcesses = std::to_array<const char*>({
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "kcmp",
    "pidfd_send_signal",
    "pidfd_getfd",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "tkill",
    "setsid",
    "setpgid",
    "setns",
    "unshare",
});
constexpr auto kAdministration = std::to_array<const char*>({
    "acct",
    "add_key",
    "adjtimex",
    "bpf",
    "chroot",
    "clock_adjtime",
    "clock_settime",
    "create_module",
    "delete_module",
    "fanotify_init",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "mount",
    "mount_setattr",
    "move_mount",
    "name_to_handle_at",
    "nfsservctl",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "personality",
    "pivot_root",
    "quotactl",
    "reboot",
    "request_key",
    "sethostname",
    "setdomainname",
    "settimeofday",
    "stime",
    "swapoff",
    "swapon",
    "syslog",
    "umount",
    "umount2",
    "userfaultfd",
    "vhangup",
    "vmsplice",
});
constexpr auto kNewPrograms = std::to_array<const char*>({"execve", "execveat", "fork", "vfork"});
// What writes to files by their names.
constexpr auto kFileChanges = std::to_array<const char*>({
    "chmod",       "chown",        "creat",     "fchmodat",  "fchownat",  "futimesat", "lchown",  "link",
    "linkat",      "lremovexattr", "lsetxattr", "mkdir",     "mkdirat",   "mknod",     "mknodat", "openat2",
    "removexattr", "rename",       "renameat",  "renameat2", "rmdir",     "setxattr",  "symlink", "symlinkat",
    "truncate",    "unlink",       "unlinkat",  "utime",     "utimensat", "utimes",
});
// What computing and loading an image from memory takes.
constexpr auto kComputing = std::to_array<const char*>({
    "access",
    "brk",
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "close",
    "dup",
    "exit",
    "exit_group",
    "faccessat",
    "faccessat2",
    "fstat",
    "futex",
    "getcwd",
    "getdents64",
    "getegid",
    "geteuid",
    "getgid",
    "getpid",
    "getppid",
    "getrandom",
    "getrusage",
    "gettid",
    "gettimeofday",
    "getuid",
    "lseek",
    "madvise",
    "membarrier",
    "memfd_create",
    "mincore",
    "mremap",
    "munmap",
    "nanosleep",
    "newfstatat",
    "poll",
    "ppoll",
    "pread64",
    "read",
    "readlink",
    "readlinkat",
    "readv",
    "restart_syscall",
    "rseq",
    "rt_sigaction",
    "rt_sigpending",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "sched_getaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_yield",
    "set_robust_list",
    "set_tid_address",
    "sigaltstack",
    "stat",
    "statx",
    "sysinfo",
    "time",
    "uname",
    "write",
    "writev",
});

using Tests = std::initializer_list<scmp_arg_cmp>;

// Tests of argument number `at`. A kernel ignores the upper half of an int, so that it is masked where a rule refuses.
constexpr scmp_arg_cmp Is(unsigned at, scmp_datum_t value) { return {at, SCMP_CMP_EQ, value, 0}; }
constexpr scmp_arg_cmp IsNot(unsigned at, scmp_datum_t value) { return {at, SCMP_CMP_NE, value, 0}; }
constexpr scmp_arg_cmp AtMost(unsigned at, scmp_datum_t value) { return {at, SCMP_CMP_LE, value, 0}; }
constexpr scmp_arg_cmp Masked(unsigned at, scmp_datum_t mask, scmp_datum_t value) {
  return {at, SCMP_CMP_MASKED_EQ, mask, value};
}
constexpr scmp_datum_t kInt = 0xffffffff;

// A filter being made. A system call that the library or the machine does not know is left out.
class Filter {
 public:
  explicit Filter(std::uint32_t otherwise) : context_(::seccomp_init(otherwise), ::seccomp_release) {
    if (!context_) return;
    // Another architecture's calls have other numbers, so that this filter would not understand them.
    Check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    Check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1));
    // Kernels before 5.16 would slow every load that follows a store otherwise.
    Check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_SSB, 1));
    Check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  }

  void Add(std::uint32_t action, const char* name, Tests tests = {}) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number < 0 || !context_) return;
    Check(::seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(tests.size()), tests.begin()));
  }
  template <std::size_t kCount>
  void AddAll(std::uint32_t action, const std::array<const char*, kCount>& names) {
    for (const char* name : names) Add(action, name);
  }

  std::optional<std::string> Load() {
    if (context_ && error_ == 0) Check(::seccomp_load(context_.get()));
    if (!context_) return "libseccomp has no memory";
    if (error_ == 0) return std::nullopt;
    return error_ == -EINVAL || error_ == -ENOSYS ? "the kernel has no seccomp filters" : std::strerror(-error_);
  }

 private:
  void Check(int result) {
    if (result < 0 && error_ == 0) error_ = result;
  }

  std::unique_ptr<void, decltype(&::seccomp_release)> context_;
  int error_ = 0;
};

void RefuseSignalsToOthers(Filter& filter, std::uint32_t action) {
  const auto own = static_cast<scmp_datum_t>(::getpid());
  for (const char* name : {"kill", "tgkill"}) filter.Add(action, name, {IsNot(0, own)});
}

std::optional<std::string> FilterForCompilers(bool starts_programs) {
  Filter filter(SCMP_ACT_ALLOW);
  constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
  filter.AddAll(kRefuse, kNetwork);
  filter.AddAll(kRefuse, kOtherProcesses);
  filter.AddAll(kRefuse, kAdministration);
  RefuseSignalsToOthers(filter, kRefuse);
  filter.Add(kRefuse, "ioctl", {Masked(1, kInt, TIOCSTI)});
  // The owner of a descriptor gets signals.
  for (const scmp_datum_t command : {F_SETOWN, F_SETOWN_EX}) filter.Add(kRefuse, "fcntl", {Masked(1, kInt, command)});
  // A new user namespace gives rights that this process does not have. The flags of clone3 cannot be seen; without it clone is
  // taken.
  filter.Add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  if (starts_programs) {
    filter.Add(kRefuse, "clone", {Masked(0, CLONE_NEWUSER, CLONE_NEWUSER)});
  } else {
    filter.Add(kRefuse, "clone", {Masked(0, CLONE_THREAD, 0)});
    filter.AddAll(kRefuse, kNewPrograms);
  }
  return filter.Load();
}

std::optional<std::string> FilterForKernels() {
  Filter filter(SCMP_ACT_ERRNO(ENOSYS));
  constexpr std::uint32_t kEnd = SCMP_ACT_KILL_PROCESS;
  filter.AddAll(SCMP_ACT_ALLOW, kComputing);
  filter.AddAll(kEnd, kNetwork);
  filter.AddAll(kEnd, kOtherProcesses);
  filter.AddAll(kEnd, kAdministration);
  filter.AddAll(kEnd, kNewPrograms);
  filter.AddAll(kEnd, kFileChanges);
  // Threads, which draw inputs; what a kernel starts is noticed (evaluator/device/cpu/thread_watch.h).
  filter.Add(SCMP_ACT_ALLOW, "clone", {Masked(0, CLONE_THREAD, CLONE_THREAD)});
  filter.Add(kEnd, "clone", {Masked(0, CLONE_THREAD, 0)});
  RefuseSignalsToOthers(filter, kEnd);
  const auto own = static_cast<scmp_datum_t>(::getpid());
  for (const char* name : {"kill", "tgkill"}) filter.Add(SCMP_ACT_ALLOW, name, {Is(0, own)});
  // Only for reading, and without making or emptying a file.
  constexpr scmp_datum_t kTemporary = O_TMPFILE & ~O_DIRECTORY;
  constexpr scmp_datum_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | kTemporary;
  filter.Add(SCMP_ACT_ALLOW, "open", {Masked(1, kWriting, 0)});
  filter.Add(SCMP_ACT_ALLOW, "openat", {Masked(2, kWriting, 0)});
  for (const scmp_datum_t flag :
       {scmp_datum_t{O_WRONLY}, scmp_datum_t{O_RDWR}, scmp_datum_t{O_CREAT}, scmp_datum_t{O_TRUNC}, kTemporary}) {
    filter.Add(kEnd, "open", {Masked(1, flag, flag)});
    filter.Add(kEnd, "openat", {Masked(2, flag, flag)});
  }
  // Memory is writable or executable, not both, and does not become executable.
  filter.Add(SCMP_ACT_ALLOW, "mprotect", {Masked(2, PROT_EXEC, 0)});
  filter.Add(kEnd, "mprotect", {Masked(2, PROT_EXEC, PROT_EXEC)});
  filter.Add(kEnd, "pkey_mprotect");
  filter.Add(SCMP_ACT_ALLOW, "mmap", {Masked(2, PROT_EXEC, 0)});
  filter.Add(SCMP_ACT_ALLOW, "mmap", {Masked(2, PROT_EXEC | PROT_WRITE, PROT_EXEC), Masked(3, MAP_ANONYMOUS, 0)});
  // What a terminal is asked for, the limits of this process, and descriptors without their owners, who get signals.
  filter.Add(SCMP_ACT_ALLOW, "ioctl", {Is(1, TCGETS)});
  filter.Add(SCMP_ACT_ALLOW, "prlimit64", {Is(0, 0), Is(2, 0)});
  filter.Add(SCMP_ACT_ALLOW, "fcntl", {AtMost(1, F_SETFL)});
  filter.Add(SCMP_ACT_ALLOW, "fcntl", {Is(1, F_DUPFD_CLOEXEC)});
  return filter.Load();
}

}  // namespace

std::optional<std::string> FilterSystemCalls(SystemCalls which) {
  if (which == SystemCalls::kKernel) return FilterForKernels();
  return FilterForCompilers(which == SystemCalls::kCompiler);
}

}  // namespace evo
