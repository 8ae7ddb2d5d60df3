// A database that is deleted or replaced while a run writes to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "core/error.h"
#include "db/history.h"
#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::FixtureGenerations;
using testing::FixtureRun;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string BytesOf(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

class LostDatabaseTest : public ::testing::Test {
 protected:
  // A run with one stored generation.
  void Begin() {
    store_.emplace(path_);
    run_ = store_->BeginRun(FixtureRun());
    store_->RecordGeneration(run_, FixtureGenerations()[0]);
  }
  std::string MessageOf(const std::function<void()>& call) const {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  std::string MessageOfNext() {
    return MessageOf([&] { store_->RecordGeneration(run_, FixtureGenerations()[1]); });
  }
  void ExpectRescued(const std::string& copy) const {
    const History history(copy);
    EXPECT_EQ(history.FindRun(run_).generations_done, 1);
    EXPECT_EQ(history.Candidates(run_, {}).size(), FixtureGenerations()[0].candidates.size());
  }

  testing::TemporaryFolder folder_;
  std::string path_ = (folder_ / "evo.db").string();
  std::string rescued_ = path_ + ".rescued-1";
  std::optional<SqliteStore> store_;
  RunId run_ = 0;
};

TEST_F(LostDatabaseTest, ADeletedOneIsNoticedAndWhatWasStoredIsRescued) {
  Begin();
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(path_ + end);
  const std::string message = MessageOfNext();
  EXPECT_THAT(message, AllOf(StartsWith(path_ + ": deleted or replaced while evo wrote to it"), HasSubstr(rescued_)));
  EXPECT_EQ(MessageOf([&] { store_->EndRun(run_, RunStatus::kFailed, message); }), message) << "the first cause stays";
  store_.reset();
  EXPECT_FALSE(fs::exists(path_));
  ExpectRescued(rescued_);
  EXPECT_FALSE(fs::exists(path_ + ".rescued-2"));
}

TEST_F(LostDatabaseTest, TheOneThatTookItsPlaceIsNotWrittenTo) {
  const std::string other = (folder_ / "other.db").string();
  testing::WriteFixture(other, FixtureRun());
  const std::string before = BytesOf(other);
  Begin();
  fs::rename(other, path_);  // the log of the run stays beside it
  EXPECT_THAT(MessageOfNext(), HasSubstr(rescued_));
  store_.reset();
  EXPECT_EQ(BytesOf(path_), before);
  EXPECT_FALSE(fs::exists(path_ + "-wal")) << "SQLite would take its pages for those of the other";
  EXPECT_EQ(History(path_).FindRun(1).generations_done, static_cast<int>(FixtureGenerations().size()));
  EXPECT_EQ(BytesOf(path_), before);
  ExpectRescued(rescued_);
}

TEST_F(LostDatabaseTest, ARunThatEndsMeanwhileDoesNotFinish) {
  Begin();
  fs::remove(path_);
  EXPECT_THAT(MessageOf([&] { store_->EndRun(run_, RunStatus::kFinished, ""); }), HasSubstr("deleted or replaced"));
}

TEST_F(LostDatabaseTest, AnEarlierRescueIsKept) {
  std::ofstream(rescued_) << "of the day before";
  Begin();
  fs::remove(path_);
  EXPECT_THAT(MessageOfNext(), HasSubstr(path_ + ".rescued-2"));
  EXPECT_EQ(BytesOf(rescued_), "of the day before");
  ExpectRescued(path_ + ".rescued-2");
}

TEST_F(LostDatabaseTest, ACopyOrALinkOfItIsNoLoss) {
  Begin();
  fs::copy_file(path_, folder_ / "copy.db");
  fs::create_hard_link(path_, folder_ / "link.db");
  EXPECT_EQ(MessageOfNext(), "nothing was thrown");
}

}  // namespace
}  // namespace evo
