#include "cli/imported_task.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "core/error.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

class ImportedTaskTest : public ::testing::Test {
 protected:
  ImportedTaskTest() { fs::create_directories(folder_); }
  ~ImportedTaskTest() override { fs::remove_all(folder_); }

  template <typename Expected>
  std::string MessageOf(const fs::path& task) {
    try {
      WriteImportedTask(task, {{"k.cu", "// text"}});
    } catch (const Expected& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("evo_imported_task_{}", ::getpid());
};

TEST_F(ImportedTaskTest, IsWrittenWhole) {
  const std::string problem = WriteImportedTask(folder_ / "task", {{"k.cu", "// text"}});
  EXPECT_NE(problem.find("task.json"), std::string::npos) << problem;
  EXPECT_TRUE(fs::exists(folder_ / "task" / "k.cu"));
}

TEST_F(ImportedTaskTest, SaysWhichFolderIsMissing) {
  const fs::path task = folder_ / "missing" / "task";
  EXPECT_EQ(MessageOf<UsageError>(task),
            fmt::format("{}: there is no folder {} to make it in", task.string(), task.parent_path().string()));
}

// As on a full disk.
TEST_F(ImportedTaskTest, LeavesNothingBehindIfItCannotBeWritten) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit none{0, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &none);
  const std::string message = MessageOf<Error>(folder_ / "task");
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(message, fmt::format("{}: cannot be written: File too large", (folder_ / "task" / "k.cu").string()));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ImportedTaskTest, ReplacesNothing) {
  EXPECT_EQ(MessageOf<UsageError>(folder_),
            fmt::format("{}: there is something of this name; choose another folder with --out", folder_.string()));
}

}  // namespace
}  // namespace evo
