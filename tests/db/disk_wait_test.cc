// A disk that is full while a run writes to its database.
#include "db/disk_wait.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <map>
#include <utility>

#include "core/error.h"
#include "db/history.h"
#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A disk under all files that SQLite opens while this object lives. Writing to it fails as long as it is told to.
class Disk {
 public:
  Disk() {
    own_ = *system_;
    own_.zName = "evo-disk";
    own_.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened) {
      const int result = system_->xOpen(system_, name, file, flags, opened);
      if (result != SQLITE_OK || file->pMethods == nullptr) return result;
      sqlite3_io_methods& own = methods_.emplace(file->pMethods, *file->pMethods).first->second;
      if (own.xWrite != Write) write_ = std::exchange(own.xWrite, Write);
      file->pMethods = &own;
      return result;
    };
    sqlite3_vfs_register(&own_, 1);
    fails_for = 0;
    with = SQLITE_FULL;
  }
  ~Disk() {
    sqlite3_vfs_unregister(&own_);
    sqlite3_vfs_register(system_, 1);
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  static constexpr int kEver = 1 << 30;
  static inline int fails_for = 0;  // writes
  static inline int with = SQLITE_FULL;

 private:
  static int Write(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 at) {
    if (fails_for == 0) return write_(file, data, bytes, at);
    if (fails_for != kEver) --fails_for;
    return with;
  }

  static inline sqlite3_vfs* const system_ = sqlite3_vfs_find(nullptr);
  static inline sqlite3_vfs own_;
  static inline std::map<const sqlite3_io_methods*, sqlite3_io_methods>
      methods_;  // by the system's: it has several kinds of files
  static inline int (*write_)(sqlite3_file*, const void*, int, sqlite3_int64) = nullptr;
};

class DiskWaitTest : public ::testing::Test {
 protected:
  DiskWait Waits(milliseconds longest) {
    return {.longest = longest, .pause = milliseconds(1), .say = [this](const std::string& line) { said_.push_back(line); }};
  }
  static std::string MessageOf(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  Disk disk_;
  testing::TemporaryFolder folder_;
  std::string path_ = (folder_ / "evo.db").string();
  std::vector<std::string> said_;
  std::vector<GenerationRecord> generations_ = testing::FixtureGenerations();
};

TEST_F(DiskWaitTest, KeepsAGenerationUntilThereIsRoomAndSaysSoOnce) {
  SqliteStore store(path_, {}, Waits(std::chrono::hours(1)));
  const RunId run = store.BeginRun(testing::FixtureRun());
  store.RecordGeneration(run, generations_[0]);
  EXPECT_TRUE(said_.empty());
  Disk::fails_for = 5;
  store.RecordGeneration(run, generations_[1]);
  EXPECT_THAT(said_, ElementsAre(AllOf(StartsWith(path_ + ": the disk is full"), HasSubstr("is kept"), HasSubstr("60 minutes"))));
  Disk::fails_for = 2;
  store.EndRun(run, RunStatus::kFinished, "");
  EXPECT_EQ(said_.size(), 2u) << "once in each wait";
  EXPECT_EQ(store.LoadGenerations(run).size(), 2u);
}

// As with a quota, of which SQLite does not know.
TEST_F(DiskWaitTest, AnErrorWhereThereIsNoRoomIsAFullDisk) {
  const std::string folder = folder_ / "small";
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  if (::mount("none", folder.c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "mounting a small disk needs root";
  const std::string filler = folder + "/filler";
  DiskWait wait = Waits(std::chrono::hours(1));
  wait.say = [&](const std::string& line) {
    said_.push_back(line);
    Disk::fails_for = 0;
    std::ofstream(filler, std::ios::trunc);
  };
  {
    SqliteStore store(folder + "/evo.db", {}, wait);
    const RunId run = store.BeginRun(testing::FixtureRun());
    std::ofstream(filler) << std::string(8 << 20, 'x');
    Disk::fails_for = Disk::kEver;
    Disk::with = SQLITE_IOERR_WRITE;
    store.RecordGeneration(run, generations_[0]);
    EXPECT_EQ(said_.size(), 1u);
    EXPECT_EQ(store.LoadGenerations(run).size(), 1u);
  }
  ::umount2(folder.c_str(), MNT_DETACH);
}

TEST_F(DiskWaitTest, ABrokenDiskIsNotWaitedFor) {
  SqliteStore store(path_, {}, Waits(std::chrono::hours(1)));
  const RunId run = store.BeginRun(testing::FixtureRun());
  Disk::fails_for = Disk::kEver;
  Disk::with = SQLITE_IOERR_WRITE;
  EXPECT_THAT(MessageOf([&] { store.RecordGeneration(run, generations_[0]); }), HasSubstr("cannot be read or written"));
  EXPECT_TRUE(said_.empty());
}

TEST_F(DiskWaitTest, OneThatStaysFullEndsTheRunAndWhatWasStoredIsWhole) {
  SqliteStore store(path_, {}, Waits(milliseconds(300)));
  const RunId run = store.BeginRun(testing::FixtureRun());
  store.RecordGeneration(run, generations_[0]);
  Disk::fails_for = Disk::kEver;
  EXPECT_THAT(
      MessageOf([&] { store.RecordGeneration(run, generations_[1]); }),
      AllOf(StartsWith(path_ + ": the disk is still full after 1 s"), HasSubstr("free some space"), HasSubstr("--resume")));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(MessageOf([&] { store.EndRun(run, RunStatus::kFailed, ""); }), HasSubstr("the disk is full"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(200)) << "what was given up is not waited for again";
  EXPECT_EQ(said_.size(), 1u);
  Disk::fails_for = 0;
  EXPECT_EQ(History(path_).FindRun(run).generations_done, 1);
  store.RecordGeneration(run, generations_[1]);
  EXPECT_EQ(store.LoadGenerations(run).size(), 2u);
}

TEST_F(DiskWaitTest, AStopRequestEndsIt) {
  std::stop_source stop;
  SqliteStore store(path_, {}, Waits(std::chrono::hours(1)));
  const RunId run = store.BeginRun(testing::FixtureRun());
  store.SetStop(stop.get_token());
  stop.request_stop();
  Disk::fails_for = Disk::kEver;
  EXPECT_THAT(MessageOf([&] { store.RecordGeneration(run, generations_[0]); }),
              AllOf(HasSubstr("the disk is full"), Not(HasSubstr("still"))));
}

TEST_F(DiskWaitTest, WithoutAWaitAFullDiskIsAnErrorAtOnce) {
  SqliteStore store(path_);
  const RunId run = store.BeginRun(testing::FixtureRun());
  Disk::fails_for = 1;
  EXPECT_THAT(MessageOf([&] { store.RecordGeneration(run, generations_[0]); }), HasSubstr("the disk is full"));
}

}  // namespace
}  // namespace evo
