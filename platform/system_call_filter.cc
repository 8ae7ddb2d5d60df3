#include "platform/system_call_filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "platform/system_call_names.h"

namespace evo {
namespace {

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

void RefuseToScheduleOthers(Filter& filter, std::uint32_t action) {
  for (const char* name : kScheduling) filter.Add(action, name, {IsNot(0, 0)});
  filter.Add(action, "setpriority", {IsNot(0, PRIO_PROCESS)});
  filter.Add(action, "setpriority", {IsNot(1, 0)});
  constexpr scmp_datum_t kProcess = 1;  // IOPRIO_WHO_PROCESS
  filter.Add(action, "ioprio_set", {IsNot(0, kProcess)});
  filter.Add(action, "ioprio_set", {IsNot(1, 0)});
}

std::optional<std::string> FilterForCompilers(bool starts_programs) {
  Filter filter(SCMP_ACT_ALLOW);
  constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
  filter.AddAll(kRefuse, kNetwork);
  filter.AddAll(kRefuse, kOtherProcesses);
  filter.AddAll(kRefuse, kSharedObjects);
  filter.AddAll(kRefuse, kAdministration);
  RefuseSignalsToOthers(filter, kRefuse);
  RefuseToScheduleOthers(filter, kRefuse);
  // Type into the terminal.
  for (const scmp_datum_t request : {TIOCSTI, TIOCLINUX}) filter.Add(kRefuse, "ioctl", {Masked(1, kInt, request)});
  // The owner of a descriptor gets signals.
  for (const scmp_datum_t command : {F_SETOWN, F_SETOWN_EX}) filter.Add(kRefuse, "fcntl", {Masked(1, kInt, command)});
  // A new namespace gives rights that this process does not have, and a child of the parent would be evo's. The flags of clone3
  // cannot be seen; without it clone is taken.
  filter.Add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  if (starts_programs) {
    for (const scmp_datum_t flag :
         {CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, CLONE_PARENT})
      filter.Add(kRefuse, "clone", {Masked(0, flag, flag)});
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
  filter.AddAll(kEnd, kSharedObjects);
  filter.AddAll(kEnd, kAdministration);
  filter.AddAll(kEnd, kNewPrograms);
  filter.AddAll(kEnd, kFileChanges);
  // Threads, which draw inputs; what a kernel starts is noticed (evaluator/device/cpu/thread_watch.h).
  filter.Add(SCMP_ACT_ALLOW, "clone", {Masked(0, CLONE_THREAD, CLONE_THREAD)});
  filter.Add(kEnd, "clone", {Masked(0, CLONE_THREAD, 0)});
  RefuseSignalsToOthers(filter, kEnd);
  // Its own faults, such as abort(). The signals by which something else stops or ends a process would be charged to nobody.
  const auto own = static_cast<scmp_datum_t>(::getpid());
  for (const scmp_datum_t signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) {
    filter.Add(SCMP_ACT_ALLOW, "kill", {Is(0, own), Is(1, signal)});
    filter.Add(SCMP_ACT_ALLOW, "tgkill", {Is(0, own), Is(2, signal)});
  }
  for (const scmp_datum_t signal : {SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU}) {
    filter.Add(kEnd, "kill", {Is(0, own), Is(1, signal)});
    filter.Add(kEnd, "tgkill", {Is(0, own), Is(2, signal)});
  }
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
