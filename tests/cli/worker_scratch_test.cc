// The temporary files of a worker that evo has not started itself, as a launcher does on another machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "evaluator/workers/worker_main.h"
#include "evaluator/workers/worker_pool.h"
#include "platform/installation.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

class WorkerScratch : public ::testing::Test {
 protected:
  // A compile worker for the cpu device, with this TMPDIR and its precompiled headers in its temporary folder.
  WorkerPoolOptions Worker(const std::string& before, const fs::path& temporary) const {
    const std::string start = before + "; exec env TMPDIR=" + temporary.string() + " XDG_CACHE_HOME=/dev/null " +
                              (ProgramDirectory() / "../bin/evo-worker").string();
    return {"compile", {"/bin/sh", "-c", start}, {{"role", "compile"}, {"device", "cpu"}}, 1};
  }
  std::vector<std::string> NamesIn(const fs::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    return names;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(WorkerScratch, IsAFolderOfItsOwnWhereAnybodyMayWrite) {
  const fs::path temporary = folder_ / "tmp", others = folder_ / "others";
  fs::create_directories(temporary);
  fs::create_directories(others);
  // Planted by somebody who guesses the name.
  WorkerPool pool(Worker("ln -s " + others.string() + " " + temporary.string() + "/evo-host-$$", temporary));
  pool.WaitReady();
  EXPECT_THAT(NamesIn(others), ::testing::IsEmpty());
  std::vector<std::string> own = NamesIn(temporary);
  std::erase_if(own, [](const std::string& name) { return name.starts_with("evo-host-"); });
  ASSERT_EQ(own.size(), 1U) << ::testing::PrintToString(own);
  EXPECT_TRUE(own.front().starts_with("evo-scratch-"));
  EXPECT_EQ(fs::status(temporary / own.front()).permissions(), fs::perms::owner_all);
}

TEST_F(WorkerScratch, OfEvoIsUsedAndOneOfAnotherMachineIsReplaced) {
  const fs::path given = folder_ / "evo-scratch-aB3dE6";
  fs::create_directory(given);
  {
    WorkerPool pool(Worker("true", given));
    pool.WaitReady();
    EXPECT_EQ(NamesIn(folder_ / ""), std::vector<std::string>{"evo-scratch-aB3dE6"});
    EXPECT_FALSE(fs::is_empty(given));
  }
  fs::remove_all(given);
  WorkerPool pool(Worker("true", given));
  pool.WaitReady();
  const std::vector<std::string> made = NamesIn(folder_ / "");
  ASSERT_EQ(made.size(), 1U);
  EXPECT_NE(made.front(), "evo-scratch-aB3dE6");
}

// A launcher passes the environment on, also to another machine, where processes have the same numbers.
TEST_F(WorkerScratch, OfALaunchedWorkerIsBesideThatOfEvoAndGoesWithIt) {
  const fs::path given = folder_ / "evo-scratch-aB3dE6";
  fs::create_directory(given);
  {
    WorkerPoolOptions options = Worker("true", given);
    options.argv.back() += std::string(" ") + kLaunched;
    options.launched = true;
    WorkerPool pool(options);
    pool.WaitReady();
    EXPECT_EQ(NamesIn(folder_ / "").size(), 2U);
    EXPECT_TRUE(fs::is_empty(given));
  }
  EXPECT_EQ(NamesIn(folder_ / ""), std::vector<std::string>{"evo-scratch-aB3dE6"});
}

}  // namespace
}  // namespace evo
