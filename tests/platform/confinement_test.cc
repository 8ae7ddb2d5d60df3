// What a confined process can still do. Each test is a process of its own, because it cannot be undone.
#include "platform/confinement.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

// The exit status of a confined process in which `act` ran, kYes or kNo; less than zero: the signal that ended it.
int InProcess(const Confinement& confinement, const std::function<bool()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!Confine(confinement).empty()) ::_exit(12);
    ::_exit(act() ? kYes : kNo);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class ConfinementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // The tests say what each layer does, and a machine that lacks one cannot show it.
    const pid_t child = ::fork();
    if (child == 0) ::_exit(Confine({SystemCalls::kKernel, FileAccess{}, {}, {}}).empty() ? 0 : 1);
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
    return {calls, FileAccess{ProgramFolders(), {}, {folder_ / "scratch", "/dev/null"}}, {}, {}};
  }
  Confinement Kernel() const { return {SystemCalls::kKernel, FileAccess{{}, {"/proc/self/task"}, {}}, {}, {}}; }

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

TEST_F(ConfinementTest, LimitsHold) {
  Confinement limits;
  limits.memory_bytes = 1 << 30;
  limits.file_bytes = 1000;
  EXPECT_EQ(InProcess(limits, [] { return std::malloc(2UL << 30) != nullptr; }), kNo);
  EXPECT_EQ(InProcess(limits,
                      [&] {
                        ::signal(SIGXFSZ, SIG_IGN);
                        const int file = ::open((folder_ / "file").c_str(), O_WRONLY);
                        return ::pwrite(file, "x", 1, 2000) == 1;
                      }),
            kNo);
}

TEST(ProgramFolders, AreNotWherePeoplesDataAre) {
  const auto folders = ProgramFolders();
  EXPECT_THAT(folders, ::testing::Contains(std::filesystem::path("/usr")));
  for (const char* other : {"/", "/etc", "/home", "/root", "/tmp", "/var"})
    EXPECT_THAT(folders, ::testing::Not(::testing::Contains(std::filesystem::path(other))));
}

}  // namespace
}  // namespace evo
