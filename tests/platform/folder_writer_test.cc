#include "platform/folder_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>

#include "platform/command.h"
#include "platform/confinement.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

class FolderWriterTest : public ::testing::Test {
 protected:
  FolderWriterTest() { fs::create_directories(base_); }
  ~FolderWriterTest() override {
    std::error_code ignored;
    fs::remove_all(base_, ignored);
  }
  static std::ptrdiff_t FilesIn(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  }

  const fs::path base_ = fs::temp_directory_path() / fmt::format("evo_folder_writer_{}", ::getpid());
  const fs::path folder_ = base_ / "new" / "evo";
};

TEST_F(FolderWriterTest, WritesWholeFilesAndLeavesNoProcess) {
  const std::string large(3 << 20, 'x');
  {
    FolderWriter writer(folder_);
    writer.Write("a", "first");
    writer.Write("b", large);
    writer.Write("a", "second");
    writer.Write("../outside", "x");
    writer.Write("", "x");
  }
  EXPECT_EQ(ReadFile(folder_ / "a"), "second");
  EXPECT_EQ(ReadFile(folder_ / "b"), large);
  EXPECT_EQ(FilesIn(folder_), 2) << "and no temporary one";
  EXPECT_FALSE(fs::exists(base_ / "new" / "outside"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms::owner_all);
}

TEST_F(FolderWriterTest, NothingIsSaidOfAFolderThatCannotBe) {
  WriteFile(base_ / "file", "no folder");
  for (const fs::path& folder : {base_ / "file" / "evo", fs::path("/proc/evo"), fs::path()}) {
    FolderWriter writer(folder);
    writer.Write("a", "first");
    writer.Write("b", std::string(1 << 20, 'x'));
  }
  EXPECT_EQ(FilesIn(base_), 1);
}

// As the process that owns a GPU: it is confined while its device is made, and the child has gone when it has its first job.
TEST_F(FolderWriterTest, WritesForAProcessThatCannot) {
  const pid_t child = ::fork();
  if (child == 0) {
    {
      FolderWriter writer(folder_);
      const bool confined = Confine({{}, FileAccess{}, {}, {}, {}}).empty();
      if (!confined) ::_exit(77);
      writer.Write("kept", "contents");
    }
    std::error_code failed;
    fs::create_directories(base_ / "own", failed);
    ::_exit(failed ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this machine lacks Landlock";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the process itself writes nothing";
  EXPECT_EQ(ReadFile(folder_ / "kept"), "contents");
}

}  // namespace
}  // namespace evo
