// What a confined process can still do. Each test is a process of its own, because it cannot be undone.
#include "platform/confinement.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <thread>

#include "platform/command.h"

namespace evo {
namespace {

using ::testing::IsEmpty;

constexpr int kYes = 10;
constexpr int kNo = 11;

// The exit status of a confined process in which `act` ran, kYes or kNo; less than zero: the signal that ended it;
// more than 255: 256 times the signal that stopped it.
int InProcess(const Confinement& confinement, const std::function<bool()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!Confine(confinement).empty()) ::_exit(12);
    ::_exit(act() ? kYes : kNo);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  if (WIFSTOPPED(status)) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return WSTOPSIG(status) << 8;
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class ConfinementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // The tests say what each layer does, and a machine that lacks one cannot show it.
    const pid_t child = ::fork();
    if (child == 0) ::_exit(Confine({SystemCalls::kKernel, FileAccess{}, {}, {}, {}}).empty() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) GTEST_SKIP() << "this machine lacks Landlock or seccomp";
    std::string name = (std::filesystem::temp_directory_path() / "evo-confinement-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::filesystem::create_directory(folder_ / "scratch");
    WriteFile(folder_ / "file", "text");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  bool Opens(const std::filesystem::path& file, int how) const { return ::open(file.c_str(), how, 0600) >= 0; }
  Confinement Tools(SystemCalls calls = SystemCalls::kCompiler) const {
    return {calls, FileAccess{ProgramFolders("/", {}), {}, {folder_ / "scratch", "/dev/null"}}, {}, {}, {}};
  }
  Confinement Kernel() const { return {SystemCalls::kKernel, FileAccess{{}, {"/proc/self/task"}, {}}, {}, {}, {}}; }

  std::filesystem::path folder_;
};

TEST_F(ConfinementTest, ACompilerReadsProgramsAndWritesItsScratchFolder) {
  EXPECT_EQ(InProcess(Tools(), [&] { return Opens("/usr/bin/env", O_RDONLY); }), kYes);
  EXPECT_EQ(InProcess(Tools(), [&] { return Opens(folder_ / "scratch" / "new", O_RDWR | O_CREAT); }), kYes);
  EXPECT_EQ(InProcess(Tools(), [&] { return ::mkdir((folder_ / "scratch" / "sub").c_str(), 0700) == 0; }), kYes);
  EXPECT_EQ(InProcess(Tools(), [&] { return Opens(folder_ / "file", O_RDONLY); }), kNo);
  EXPECT_EQ(InProcess(Tools(), [&] { return Opens(folder_ / "new", O_RDWR | O_CREAT); }), kNo);
  EXPECT_EQ(InProcess(Tools(), [&] { return Opens("/etc/passwd", O_RDONLY); }), kNo);
  EXPECT_EQ(InProcess(Tools(), [&] { return ::unlink((folder_ / "file").c_str()) == 0; }), kNo);
  EXPECT_EQ(InProcess(Tools(), [&] { return ::truncate((folder_ / "file").c_str(), 0) == 0; }), kNo);
  EXPECT_EQ(InProcess(Tools(), [&] { return Opens("/dev/null", O_WRONLY); }), kYes);
}

TEST_F(ConfinementTest, ACompilerStartsProgramsAndNoMore) {
  const auto shell = [](const std::string& script) {
    return [script] { return RunCommand("sh", {"-c", script}, "install a shell").status == 0; };
  };
  EXPECT_EQ(InProcess(Tools(), shell("exit 0")), kYes);
  EXPECT_EQ(InProcess(Tools(), shell("echo > " + (folder_ / "scratch" / "a").string())), kYes);
  EXPECT_EQ(InProcess(Tools(), shell("echo > " + (folder_ / "b").string())), kNo);
  EXPECT_EQ(InProcess(Tools(), shell("setsid true")), kNo);
  EXPECT_EQ(InProcess(Tools(), shell("kill -0 " + std::to_string(::getpid()))), kNo);
  EXPECT_EQ(InProcess(Tools(), [] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }), kNo);
  EXPECT_EQ(InProcess(Tools(), [] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }), kNo);
  EXPECT_EQ(InProcess(Tools(), [] { return ::kill(::getppid(), 0) == 0; }), kNo);
  EXPECT_EQ(InProcess(Tools(), [] { return ::setpgid(0, 0) == 0; }), kNo);
  EXPECT_EQ(InProcess(Tools(), [] { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }), kYes);
}

// Limits, priorities and processors of a process that is not confined can be set by any other of the same user.
TEST_F(ConfinementTest, ACompilerLeavesOtherProcessesAsTheyAre) {
  const auto limit = [](pid_t process) {
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    rlimit present{};
    return ::prlimit(process, RLIMIT_CPU, &none, &present) == 0;
  };
  EXPECT_EQ(InProcess(Tools(), [&] { return limit(::getppid()); }), kNo);
  EXPECT_EQ(InProcess(Tools(), [&] { return limit(0); }), kYes);
  EXPECT_EQ(InProcess(Tools(), [] { return ::setpriority(PRIO_PROCESS, ::getppid(), ::getpriority(PRIO_PROCESS, 0)) == 0; }),
            kNo);
  EXPECT_EQ(InProcess(Tools(), [] { return ::setpriority(PRIO_USER, ::getuid(), ::getpriority(PRIO_PROCESS, 0)) == 0; }), kNo);
  EXPECT_EQ(InProcess(Tools(), [] { return ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0)) == 0; }), kYes);
  const auto move = [](pid_t process) {
    cpu_set_t all;
    return ::sched_getaffinity(0, sizeof all, &all) == 0 && ::sched_setaffinity(process, sizeof all, &all) == 0;
  };
  EXPECT_EQ(InProcess(Tools(), [&] { return move(::getppid()); }), kNo);
  EXPECT_EQ(InProcess(Tools(), [&] { return move(0); }), kYes);
}

// Any process of the same user may use these by their numbers; no layer for files knows of them.
TEST_F(ConfinementTest, MemoryThatOthersShareIsOutOfReach) {
  const int memory = ::shmget(IPC_PRIVATE, 4096, 0600);
  ASSERT_GE(memory, 0);
  const auto attach = [&] { return ::shmat(memory, nullptr, 0) != reinterpret_cast<void*>(-1); };
  EXPECT_EQ(InProcess(Tools(), attach), kNo);
  EXPECT_EQ(InProcess(Tools(SystemCalls::kParser), attach), kNo);
  EXPECT_EQ(InProcess(Kernel(), attach), -SIGSYS);
  ::shmctl(memory, IPC_RMID, nullptr);
}

// Where Landlock is older than its version 6, the filter alone must hold: a socket that has an owner signals it.
TEST_F(ConfinementTest, ACompilerHasNoSocketsOfItsOwn) {
  Confinement filter;
  filter.calls = SystemCalls::kCompiler;
  int ends[2];
  EXPECT_EQ(InProcess(filter, [&] { return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0; }), kNo);
}

// As root it could have them without a user namespace; a child of its parent would be evo's to reap.
TEST_F(ConfinementTest, ACompilerStaysInItsNamespacesAndHasItsOwnChildren) {
  for (const unsigned long flag : {CLONE_NEWPID, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWUSER, CLONE_PARENT}) {
    EXPECT_EQ(InProcess(Tools(),
                        [flag] {
                          const long child = ::syscall(SYS_clone, flag | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
                          if (child == 0) ::_exit(0);
                          return child > 0;
                        }),
              kNo)
        << flag;
  }
}

TEST_F(ConfinementTest, AThreadThatRunsAlreadyIsNamed) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread other([] { ::pause(); });
    other.detach();
    const MissingLayers missing = Confine(Kernel());
    ::_exit(missing.size() == 1 && missing.front().starts_with("Landlock: 1 thread") ? kYes : kNo);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), kYes);
}

#ifdef __x86_64__
// Calls by the numbers of other architectures, which a filter of names would take for others. 20 is getpid in i386; 39 in x32.
TEST_F(ConfinementTest, ACallOfAnotherArchitectureEndsTheProcess) {
  const auto i386 = [] {
    long result = 20;
    asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result > 0;
  };
  const auto x32 = [] { return ::syscall(0x40000000 + 39) > 0; };
  // A kernel without calls of that architecture ends any process that makes one.
  const pid_t unconfined = ::fork();
  if (unconfined == 0) ::_exit(i386() ? 0 : 1);
  int status = 0;
  ::waitpid(unconfined, &status, 0);
  const int ended = WIFSIGNALED(status) ? -SIGSEGV : -SIGSYS;
  for (const SystemCalls calls : {SystemCalls::kCompiler, SystemCalls::kParser}) {
    EXPECT_EQ(InProcess(Tools(calls), i386), ended);
    EXPECT_EQ(InProcess(Tools(calls), x32), -SIGSYS);
  }
  EXPECT_EQ(InProcess(Kernel(), i386), ended);
  EXPECT_EQ(InProcess(Kernel(), x32), -SIGSYS);
}
#endif

TEST_F(ConfinementTest, AParserStartsThreadsAndNoPrograms) {
  const Confinement parser = Tools(SystemCalls::kParser);
  EXPECT_EQ(InProcess(parser,
                      [] {
                        int done = 0;
                        std::thread([&] { done = 1; }).join();
                        return done == 1;
                      }),
            kYes);
  EXPECT_EQ(InProcess(parser, [] { return ::fork() >= 0; }), kNo);
  EXPECT_EQ(InProcess(parser, [] { return ::execl("/bin/true", "true", nullptr) == 0; }), kNo);
}

TEST_F(ConfinementTest, AKernelComputes) {
  EXPECT_EQ(InProcess(Kernel(),
                      [] {
                        int done = 0;
                        std::thread([&] { done = 1; }).join();
                        return done == 1;
                      }),
            kYes);
  EXPECT_EQ(InProcess(Kernel(), [] { return std::vector<char>(1 << 20).size() == 1 << 20; }), kYes);
  EXPECT_EQ(InProcess(Kernel(), [] { return ::memfd_create("evo", MFD_CLOEXEC) >= 0; }), kYes);
  EXPECT_EQ(InProcess(Kernel(), [&] { return Opens("/proc/self/task", O_RDONLY | O_DIRECTORY); }), kYes);
  EXPECT_EQ(InProcess(Kernel(), [&] { return Opens("/etc/passwd", O_RDONLY); }), kNo);
  EXPECT_EQ(InProcess(Kernel(), [&] { return Opens("/proc/self/environ", O_RDONLY); }), kNo);
  EXPECT_EQ(InProcess(Kernel(), [&] { return Opens(folder_ / "file", O_RDONLY); }), kNo);
  EXPECT_EQ(InProcess(Kernel(), [] { return ::mmap(nullptr, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; }), kNo);
  EXPECT_EQ(InProcess(Kernel(), [] { return ::raise(SIGABRT) == 0; }), -SIGABRT) << "it may end itself";
}

TEST_F(ConfinementTest, AKernelThatActsIsEnded) {
  EXPECT_EQ(InProcess(Kernel(), [&] { return Opens(folder_ / "file", O_WRONLY); }), -SIGSYS);
  EXPECT_EQ(InProcess(Kernel(), [&] { return Opens(folder_ / "new", O_RDONLY | O_CREAT); }), -SIGSYS);
  EXPECT_EQ(InProcess(Kernel(), [&] { return ::unlink((folder_ / "file").c_str()) == 0; }), -SIGSYS);
  EXPECT_EQ(InProcess(Kernel(), [] { return ::fork() >= 0; }), -SIGSYS);
  EXPECT_EQ(InProcess(Kernel(), [] { return ::execl("/bin/true", "true", nullptr) == 0; }), -SIGSYS);
  EXPECT_EQ(InProcess(Kernel(), [] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }), -SIGSYS);
  EXPECT_EQ(InProcess(Kernel(), [] { return ::kill(::getppid(), SIGTERM) == 0; }), -SIGSYS);
  EXPECT_EQ(InProcess(Kernel(), [] { return ::setsid() > 0; }), -SIGSYS);
  EXPECT_EQ(InProcess(Kernel(),
                      [] {
                        void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                        return ::mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
                      }),
            -SIGSYS);
}

// Otherwise a kernel could look as if something else had stopped or ended its worker, which is charged to nobody.
TEST_F(ConfinementTest, AKernelDoesNotStopItself) {
  for (const int signal : {SIGSTOP, SIGTSTP, SIGKILL, SIGTERM, SIGHUP, SIGINT}) {
    EXPECT_EQ(InProcess(Kernel(), [signal] { return ::kill(::getpid(), signal) == 0; }), -SIGSYS) << signal;
    EXPECT_EQ(InProcess(Kernel(), [signal] { return ::raise(signal) == 0; }), -SIGSYS) << signal;
  }
}

TEST_F(ConfinementTest, LimitsHold) {
  Confinement limits;
  limits.memory_bytes = 1 << 30;
  limits.file_bytes = 1000;
  limits.open_files = 20;
  EXPECT_EQ(InProcess(limits, [] { return std::malloc(2UL << 30) != nullptr; }), kNo);
  EXPECT_EQ(InProcess(limits,
                      [&] {
                        ::signal(SIGXFSZ, SIG_IGN);
                        const int file = ::open((folder_ / "file").c_str(), O_WRONLY);
                        return ::pwrite(file, "x", 1, 2000) == 1;
                      }),
            kNo);
  EXPECT_EQ(InProcess(limits,
                      [] {
                        int made = 0;
                        while (made < 100 && ::memfd_create("evo", 0) >= 0) ++made;
                        return made < 20;
                      }),
            kYes);
}

TEST(ProgramFolders, AreNotWherePeoplesDataAre) {
  const auto folders = ProgramFolders("/", HomeFolders());
  EXPECT_THAT(folders, ::testing::Contains(std::filesystem::path("/usr")));
  for (const char* other : {"/", "/etc", "/home", "/root", "/tmp", "/var"})
    EXPECT_THAT(folders, ::testing::Not(::testing::Contains(std::filesystem::path(other))));
}

// The homes of a large site are rarely in /home.
TEST(ProgramFolders, AreNotWhereTheUsersHomeIs) {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "evo-root-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path root = fs::canonical(name);
  for (const char* folder : {"usr/home", "etc", "users/alice/x", "users/bob", "nfs/homes/alice", "nfs/software", "data"})
    fs::create_directories(root / folder);
  fs::create_directory_symlink(root / "users", root / "people");
  fs::create_directory_symlink(root / "users/alice/x", root / "mine");
  fs::create_directory_symlink(root / "nfs/software", root / "tools");
  fs::create_directory_symlink(root, root / "all");
  const auto folders = [&](const std::vector<fs::path>& homes) {
    std::vector<std::string> names;
    for (const fs::path& folder : ProgramFolders(root, homes)) names.push_back(folder.lexically_relative(root).string());
    return names;
  };
  using ::testing::UnorderedElementsAre;
  EXPECT_THAT(folders({root / "users/alice", root / "nfs/homes/alice"}),
              UnorderedElementsAre("usr", "nfs/software", "data", "tools"));
  EXPECT_THAT(folders({root / "usr/home"}), UnorderedElementsAre("usr", "users", "nfs", "data", "people", "mine", "tools"));
  fs::remove_all(root);
}

}  // namespace
}  // namespace evo
