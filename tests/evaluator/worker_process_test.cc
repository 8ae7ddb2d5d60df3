#include "evaluator/workers/worker_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace evo {
namespace {

namespace fs = std::filesystem;

// The descriptors that a process has open for more than two seconds besides its standard streams: the dynamic linker opens a
// library for a moment.
std::vector<std::string> OpenBeyondStandard(int pid, int seconds = 2) {
  std::vector<std::string> found;
  std::error_code gone;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    if (std::stoi(entry.path().filename()) > 2)
      found.push_back(entry.path().filename().string() + " -> " + fs::read_symlink(entry.path(), gone).string());
  }
  if (found.empty() || seconds == 0) return found;
  ::sleep(1);
  return OpenBeyondStandard(pid, seconds - 1);
}

// A worker that inherited another's pipe would keep it open, and a wait for that pipe to close would last until both have ended.
TEST(WorkerProcess, StartedTogetherInheritNothingFromEachOther) {
  constexpr int kThreads = 16, kEach = 40;
  std::vector<std::vector<std::unique_ptr<WorkerProcess>>> workers(kThreads);
  {
    std::vector<std::jthread> threads;
    for (auto& own : workers) {
      threads.emplace_back([&own] {
        for (int i = 0; i < kEach; ++i)
          own.push_back(std::make_unique<WorkerProcess>(std::vector<std::string>{"/bin/sleep", "60"}));
      });
    }
  }
  for (const auto& own : workers) {
    ASSERT_EQ(own.size(), static_cast<std::size_t>(kEach));
    for (const auto& worker : own) EXPECT_THAT(OpenBeyondStandard(worker->pid()), testing::IsEmpty()) << worker->pid();
  }
}

// A pipe that another thread is just making may not be marked close-on-exec yet.
TEST(WorkerProcess, InheritsNothingThatIsOpen) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const WorkerProcess worker({"/bin/sleep", "60"});
  EXPECT_THAT(OpenBeyondStandard(worker.pid()), testing::IsEmpty());
  ::close(ends[0]);
  ::close(ends[1]);
}

// A process in a group of its own that has the number of one that was reaped; -1 where that is not allowed.
pid_t StartWithNumber(pid_t number) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uint64_t>(&number);
  arguments.set_tid_size = 1;
  const auto made = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
  if (made == 0) {
    ::setpgid(0, 0);
    ::close_range(0, ~0U, 0);
    for (;;) ::pause();
  }
  while (made > 0 && ::getpgid(made) != made) ::usleep(1000);
  return made;
}

// The number of a worker that has ended and was reaped.
pid_t NumberOfEnded(WorkerProcess& worker) {
  const auto answer = worker.Receive(std::chrono::steady_clock::now() + std::chrono::seconds(30), {});
  EXPECT_TRUE(std::holds_alternative<WorkerDeath>(answer));
  return worker.pid();
}

TEST(WorkerProcess, TheNumberOfOneThatHasEndedIsNotSignalled) {
  WorkerProcess worker({"/bin/true"});
  const pid_t other = StartWithNumber(NumberOfEnded(worker));
  if (other < 0) GTEST_SKIP() << "the number of a process cannot be chosen here";
  worker.Suspend();
  ::usleep(100'000);
  siginfo_t stopped{};
  ::waitid(P_PID, static_cast<id_t>(other), &stopped, WSTOPPED | WNOHANG | WNOWAIT);
  EXPECT_EQ(stopped.si_pid, 0) << "another process was stopped";
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

// This process ends while it still knows of the worker. What has its number now must live on.
TEST(WorkerProcess, TheNumberOfOneThatHasEndedIsNotGuarded) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    WorkerProcess worker({"/bin/true"});
    const pid_t other = StartWithNumber(NumberOfEnded(worker));
    ::_exit(::write(ends[1], &other, sizeof other) == sizeof other ? 0 : 1);
  }
  pid_t other = -1;
  ASSERT_EQ(::read(ends[0], &other, sizeof other), static_cast<ssize_t>(sizeof other));
  ::waitpid(owner, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  if (other < 0) GTEST_SKIP() << "the number of a process cannot be chosen here";
  ::usleep(500'000);  // the guard has ended by then
  std::ifstream status("/proc/" + std::to_string(other) + "/stat");
  std::string number, name, state;
  EXPECT_TRUE(status >> number >> name >> state && state != "Z") << "another process was killed";
  ::kill(other, SIGKILL);
}

// The guard ends when this process does, also when something has stopped it.
TEST(WorkerProcess, ItsGuardEndsWithThisProcess) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    pid_t guard = -1;
    {
      const WorkerProcess worker({"/bin/sleep", "60"});
      std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
      for (pid_t child = -1; children >> child;) guard = child == worker.pid() ? guard : child;
      ::kill(guard, SIGSTOP);
    }
    const bool written = ::write(ends[1], &guard, sizeof guard) == sizeof guard;
    std::exit(written ? 0 : 1);
  }
  pid_t guard = -1;
  ASSERT_EQ(::read(ends[0], &guard, sizeof guard), static_cast<ssize_t>(sizeof guard));
  ::waitpid(owner, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_GT(guard, 0);
  ::usleep(100'000);
  EXPECT_NE(::kill(guard, 0), 0) << "it lives on";
  ::kill(guard, SIGKILL);
}

}  // namespace
}  // namespace evo
