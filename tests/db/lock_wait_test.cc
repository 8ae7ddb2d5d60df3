#include "db/lock_wait.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Another program that holds the lock for writing.
class Holder {
 public:
  explicit Holder(const std::string& path) : db_(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {}
  void Lock() { db_.exec("BEGIN IMMEDIATE"); }
  void Release() { db_.exec("ROLLBACK"); }

 private:
  SQLite::Database db_;
};

class LockWaitTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  std::string path_ = (folder_ / "evo.db").string();
  std::vector<std::string> said_;
};

TEST_F(LockWaitTest, KeepsAGenerationUntilTheOtherProgramEndsAndSaysSoOnce) {
  Holder other(path_);
  LockWait wait{.longest = std::chrono::hours(1), .until_said = milliseconds(0)};
  wait.say = [&](const std::string& line) {
    said_.push_back(line);
    other.Release();
  };
  SqliteStore store(path_, wait);
  const RunId run = store.BeginRun(testing::FixtureRun());
  EXPECT_TRUE(said_.empty());
  other.Lock();
  const std::vector<GenerationRecord> generations = testing::FixtureGenerations();
  store.RecordGeneration(run, generations[0]);
  EXPECT_THAT(said_, ElementsAre(AllOf(StartsWith(path_), HasSubstr("locked by another program"), HasSubstr("is kept"))));
  other.Lock();
  store.RecordGeneration(run, generations[1]);
  EXPECT_EQ(said_.size(), 2u) << "once in each wait";
  EXPECT_EQ(store.LoadGenerations(run).size(), 2u);
}

TEST_F(LockWaitTest, SaysNothingOfAShortWait) {
  Holder other(path_);
  LockWait wait{.longest = milliseconds(20), .until_said = milliseconds(1000)};
  wait.say = [&](const std::string& line) { said_.push_back(line); };
  SqliteStore store(path_, wait);
  other.Lock();
  EXPECT_THROW(store.BeginRun(testing::FixtureRun()), Error);
  EXPECT_TRUE(said_.empty());
}

TEST_F(LockWaitTest, EndsSoonAfterAStopRequestHoweverOftenItIsAsked) {
  Holder other(path_);
  std::stop_source stop;
  SqliteStore store(path_, {.longest = std::chrono::hours(1), .stop = stop.get_token(), .after_stop = milliseconds(10)});
  other.Lock();
  stop.request_stop();
  for (int call = 0; call < 100; ++call) EXPECT_THROW(store.BeginRun(testing::FixtureRun()), Error);
  other.Release();
  EXPECT_EQ(store.BeginRun(testing::FixtureRun()), 1) << "what is not locked is written";
}

TEST_F(LockWaitTest, WhatWasGivenUpIsNotWaitedForAgain) {
  Holder other(path_);
  SqliteStore store(path_, {.longest = milliseconds(300), .after_stop = milliseconds(10)});
  other.Lock();
  EXPECT_THROW(store.BeginRun(testing::FixtureRun()), Error);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(store.BeginRun(testing::FixtureRun()), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(200));
  other.Release();
  EXPECT_EQ(store.BeginRun(testing::FixtureRun()), 1);
}

}  // namespace
}  // namespace evo
