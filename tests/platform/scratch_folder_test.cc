#include "platform/scratch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "core/error.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ScratchFolderTest : public ::testing::Test {
 protected:
  ScratchFolderTest() {
    if (const char* set = std::getenv("TMPDIR")) before_ = set;
    UseParent();
  }
  ~ScratchFolderTest() override {
    if (before_.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", before_.c_str(), 1);
  }
  void UseParent() { ::setenv("TMPDIR", parent_.path().c_str(), 1); }

  // What a process leaves that was killed: its folder without its lock.
  fs::path Abandon(const std::string& name) {
    const fs::path folder = parent_ / name;
    fs::create_directory(folder);
    std::ofstream(folder / "evo-scratch.lock");
    std::ofstream(folder / "prelude.h.gch") << "60 MB";
    return folder;
  }

  testing::TemporaryFolder parent_;
  std::string before_;
};

TEST_F(ScratchFolderTest, IsMadeByOpenForThisUserAloneAndRemovedAtItsEnd) {
  fs::path path;
  {
    ScratchFolder scratch;
    EXPECT_TRUE(fs::is_empty(parent_.path())) << "a command without workers makes no folder";
    scratch.Open();
    path = scratch.path();
    scratch.Open();
    EXPECT_EQ(path, scratch.path());
    EXPECT_EQ(path.parent_path(), parent_.path());
    EXPECT_EQ(std::getenv("TMPDIR"), path.string());
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    fs::create_directories(path / "evo-host-7");
    std::ofstream(path / "evo-host-7" / "image") << "unfinished";
  }
  EXPECT_TRUE(fs::is_empty(parent_.path()));
}

TEST_F(ScratchFolderTest, AnOwnerThatLivesKeepsItsFolderWhateverItsProcessNumber) {
  ScratchFolder first;
  first.Open();
  std::ofstream(first.path() / "header") << "in use";
  UseParent();
  {
    ScratchFolder second;
    second.Open();
    EXPECT_NE(second.path(), first.path());
    EXPECT_TRUE(fs::exists(first.path() / "header"));
  }
  EXPECT_TRUE(fs::exists(first.path() / "header"));
}

TEST_F(ScratchFolderTest, FoldersOfOwnersThatWereKilledAreRemoved) {
  const fs::path before = Abandon("evo-scratch-aB3xYz");
  const fs::path meanwhile = parent_ / "evo-scratch-000000";
  {
    ScratchFolder scratch;
    EXPECT_TRUE(fs::exists(before));
    scratch.Open();
    EXPECT_FALSE(fs::exists(before));
    Abandon(meanwhile.filename());
  }
  EXPECT_FALSE(fs::exists(meanwhile));
}

TEST_F(ScratchFolderTest, FoldersOfOthersStay) {
  const fs::path outside = parent_ / "outside";
  fs::create_directory(outside);
  std::ofstream(outside / "evo-scratch.lock");
  std::ofstream(outside / "thesis.tex") << "years of work";
  fs::create_directory_symlink(outside, parent_ / "evo-scratch-linked");
  std::vector<fs::path> others = {Abandon("evo-scratch-999999-mydata"), Abandon("evo-scratch-9999999"),
                                  Abandon("evo-scratch-99999"), Abandon("my-evo-scratch-aaaaaa"), Abandon("evo-scratch-aaaa.b")};
  fs::create_directory(parent_ / "evo-scratch-mydata");  // a name that could be drawn, but without the file of the lock
  std::ofstream(parent_ / "evo-scratch-mydata" / "results.csv") << "1,2";
  fs::create_directory(parent_ / "evo-scratch-999999");
  {
    ScratchFolder scratch;
    scratch.Open();
  }
  for (const fs::path& other : others) EXPECT_TRUE(fs::exists(other / "prelude.h.gch")) << other;
  EXPECT_TRUE(fs::exists(parent_ / "evo-scratch-mydata" / "results.csv"));
  EXPECT_TRUE(fs::exists(parent_ / "evo-scratch-999999"));
  EXPECT_TRUE(fs::exists(outside / "thesis.tex"));
  EXPECT_TRUE(fs::exists(parent_ / "evo-scratch-linked"));
}

TEST_F(ScratchFolderTest, AFolderOfAnotherUserStays) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to make one";
  const fs::path other = Abandon("evo-scratch-others");
  ASSERT_EQ(::chown(other.c_str(), 65534, 65534), 0);
  ScratchFolder scratch;
  scratch.Open();
  EXPECT_TRUE(fs::exists(other / "prelude.h.gch"));
}

TEST_F(ScratchFolderTest, AMissingFolderIsNamedByOpenOnly) {
  ::setenv("TMPDIR", (parent_ / "none").c_str(), 1);
  ScratchFolder scratch;
  try {
    scratch.Open();
    ADD_FAILURE() << "it was opened";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith("TMPDIR ("), HasSubstr("none)"), HasSubstr("; set it to a folder with room")));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
}

// A launcher has passed on what the command on the first machine has set.
TEST_F(ScratchFolderTest, OfALaunchedWorkerIsBesideThatOfEvo) {
  const fs::path given = parent_ / "evo-scratch-aB3dE6";
  fs::create_directory(given);
  for (const fs::path& named : {given, parent_ / "evo-scratch-gone00", parent_.path()}) {
    ::setenv("TMPDIR", named.c_str(), 1);
    ScratchFolder scratch;
    scratch.OpenApart();
    EXPECT_EQ(scratch.path().parent_path(), parent_.path()) << named;
    EXPECT_TRUE(fs::is_empty(given));
  }
}

TEST_F(ScratchFolderTest, OfALaunchedWorkerIsWhereItsMachineHasOne) {
  ::setenv("TMPDIR", (parent_ / "not" / "here").c_str(), 1);
  ScratchFolder scratch;
  scratch.OpenApart();
  EXPECT_TRUE(fs::exists(scratch.path()));
}

}  // namespace
}  // namespace evo
