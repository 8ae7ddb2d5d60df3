// The confinement of the process that owns a GPU, with a role that does what a driver does: it starts a thread. Each test is a
// process of its own, because confinement cannot be undone.
#include "cli/worker_confinement.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <string>
#include <thread>

#include "core/error.h"
#include "evaluator/workers/waiting_jobs.h"
#include "platform/confinement.h"

namespace evo {
namespace {

constexpr const char* kSwitch = "EVO_CONFINE_GPU";

bool Reads(const char* file) { return ::open(file, O_RDONLY | O_CLOEXEC) >= 0; }
bool MakesSockets() { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }
bool StartsProcesses() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return child > 0;
}

class Driver : public WorkerRole {
 public:
  // The thread makes a socket when it is told to.
  Driver() : thread_([this] { made_.set_value(go_.get_future().get() && MakesSockets()); }) {}
  ~Driver() override {
    if (!told_) go_.set_value(false);
    thread_.join();
  }
  Message Handle(const Message&, WorkerChannel&) override { return {}; }
  bool ThreadMakesSockets() {
    told_ = true;
    go_.set_value(true);
    return made_.get_future().get();
  }

 private:
  bool told_ = false;
  std::promise<bool> go_, made_;
  std::thread thread_;
};

// Whether the checks that `act` makes in a process of its own all hold. They are numbered by their order.
using Check = std::function<void(bool)>;
int FirstThatFails(const std::function<void(const Check&)>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    int number = 0;
    act([&number](bool holds) {
      ++number;
      if (!holds) ::_exit(number);
    });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

const nlohmann::json kGpu = {{"role", "run"}, {"device", "cuda"}, {"ordinal", 0}};

class GpuConfinement : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto confines = [](const Check& check) { check(Confine({SystemCalls::kParser, FileAccess{}, {}, {}, {}}).empty()); };
    if (FirstThatFails(confines) != 0) GTEST_SKIP() << "this machine lacks Landlock or seccomp";
  }
};

TEST_F(GpuConfinement, HoldsFilesBeforeTheDriverStartsAndCallsFromThenOn) {
  EXPECT_EQ(FirstThatFails([](const Check& check) {
              ::setenv(kSwitch, "1", 1);
              Driver* driver = nullptr;
              const auto role = Confined("run", [&](const nlohmann::json&) {
                check(!Reads("/etc/passwd"));
                check(Reads("/usr/bin/env"));
                check(MakesSockets());
                check(StartsProcesses());
                auto made = std::make_unique<Driver>();
                driver = made.get();
                return made;
              })(kGpu);
              check(role->Describe().at("unconfined").empty());
              check(!Reads("/etc/passwd"));
              check(!MakesSockets());
              check(!driver->ThreadMakesSockets());
              check(!StartsProcesses());
              check(::kill(::getppid(), 0) != 0);
              check(Reads("/proc/self/maps"));
              std::thread([] {}).join();
            }),
            0);
}

TEST_F(GpuConfinement, IsTheDefault) {
  EXPECT_EQ(FirstThatFails([](const Check& check) {
              ::unsetenv(kSwitch);
              const auto role = Confined("run", [&](const nlohmann::json&) { return std::make_unique<Driver>(); })(kGpu);
              check(role->Describe().at("unconfined").empty());
              check(!Reads("/etc/passwd") && !MakesSockets() && !StartsProcesses());
            }),
            0);
}

// It is in the memory of the process that started the worker, to which Landlock leaves no way.
TEST_F(GpuConfinement, LeavesTheNumberOfWaitingJobs) {
  WaitingJobs jobs;
  nlohmann::json init = kGpu;
  init["waiting"] = jobs.path();
  jobs.Set(0);
  EXPECT_EQ(FirstThatFails([&](const Check& check) {
              ::setenv(kSwitch, "1", 1);
              std::unique_ptr<WaitingJobsView> view;
              const auto role = Confined("run", [&](const nlohmann::json& given) {
                view = std::make_unique<WaitingJobsView>(given.at("waiting").get<std::string>());
                return std::make_unique<Driver>();
              })(init);
              check(!view->Any());
              jobs.Set(1);
              check(view->Any());
            }),
            0);
}

TEST_F(GpuConfinement, IsLeftOutAndNamedWhereItIsTurnedOff) {
  EXPECT_EQ(FirstThatFails([](const Check& check) {
              ::setenv(kSwitch, "0", 1);
              const auto role = Confined("run", [&](const nlohmann::json&) { return std::make_unique<Driver>(); })(kGpu);
              const nlohmann::json missing = role->Describe().at("unconfined");
              check(missing.size() == 1 && missing[0].get<std::string>().starts_with("Landlock, seccomp: "));
              check(missing[0].get<std::string>().find("EVO_CONFINE_GPU=0") != std::string::npos);
              check(Reads("/etc/passwd") && MakesSockets() && StartsProcesses());
            }),
            0);
}

TEST_F(GpuConfinement, CanBeTriedByHalves) {
  EXPECT_EQ(FirstThatFails([](const Check& check) {
              ::setenv(kSwitch, "calls", 1);
              const auto role = Confined("run", [&](const nlohmann::json&) { return std::make_unique<Driver>(); })(kGpu);
              const nlohmann::json missing = role->Describe().at("unconfined");
              check(missing.size() == 1 && missing[0].get<std::string>().starts_with("Landlock: "));
              check(Reads("/etc/passwd") && !MakesSockets());
            }),
            0);
  EXPECT_EQ(FirstThatFails([](const Check& check) {
              ::setenv(kSwitch, "files", 1);
              const auto role = Confined("run", [&](const nlohmann::json&) { return std::make_unique<Driver>(); })(kGpu);
              const nlohmann::json missing = role->Describe().at("unconfined");
              check(missing.size() == 1 && missing[0].get<std::string>().starts_with("seccomp: "));
              check(!Reads("/etc/passwd") && MakesSockets());
            }),
            0);
}

TEST_F(GpuConfinement, IsNotUsedUnderATool) {
  EXPECT_EQ(FirstThatFails([](const Check& check) {
              ::setenv(kSwitch, "1", 1);
              nlohmann::json init = kGpu;
              init["use"] = "tool";
              const auto role = Confined("run", [&](const nlohmann::json&) { return std::make_unique<Driver>(); })(init);
              check(role->Describe().at("unconfined").size() == 1);
              check(MakesSockets() && StartsProcesses());
            }),
            0);
}

TEST_F(GpuConfinement, ThatADriverDoesNotBearIsNamed) {
  EXPECT_EQ(FirstThatFails([](const Check& check) {
              ::setenv(kSwitch, "1", 1);
              std::string message;
              try {
                Confined("run", [](const nlohmann::json&) -> std::unique_ptr<WorkerRole> { throw Error("no GPU"); })(kGpu);
              } catch (const Error& error) {
                message = error.what();
              }
              check(message.starts_with("no GPU (") && message.find("EVO_CONFINE_GPU=0") != std::string::npos);
            }),
            0);
}

}  // namespace
}  // namespace evo
