#include "evaluator/workers/worker_process.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace evo {
namespace {

namespace fs = std::filesystem;

// The descriptors that a process has open besides its standard streams.
std::vector<std::string> OpenBeyondStandard(int pid) {
  std::vector<std::string> found;
  std::error_code gone;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    if (std::stoi(entry.path().filename()) > 2)
      found.push_back(entry.path().filename().string() + " -> " + fs::read_symlink(entry.path(), gone).string());
  }
  return found;
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

}  // namespace
}  // namespace evo
