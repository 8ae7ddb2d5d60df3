// The files that compilers may use, by what the environment says of them.
#include "cli/tool_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <map>
#include <string>

namespace evo {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Not;

// A home folder with a compiler in it. The environment is as before when the test ends.
class ToolFilesTest : public ::testing::Test {
 protected:
  ToolFilesTest() {
    std::string name = (fs::temp_directory_path() / "evo-tool-files-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error(name);
    home_ = fs::canonical(name);
    Set("HOME", home_);
    Install(home_ / "bin");
    Install(home_ / "tools" / "bin");
  }
  ~ToolFilesTest() override {
    fs::remove_all(home_);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  void Set(const std::string& name, const std::string& value) {
    const char* present = std::getenv(name.c_str());
    before_.emplace(name, present == nullptr ? "" : present);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  static void Install(const fs::path& folder) {
    fs::create_directories(folder);
    std::ofstream(folder / "g++") << "#!/bin/sh\n";
  }
  static std::vector<fs::path> Readable() { return ToolFiles().readable; }

  fs::path home_;
  std::map<std::string, std::string> before_;
};

TEST_F(ToolFilesTest, ACompilerIsReadWhereItIsInstalled) {
  Set("PATH", (home_ / "tools" / "bin").string() + ":/usr/bin");
  EXPECT_THAT(Readable(), AllOf(Contains(home_ / "tools"), Contains(fs::path("/usr")), Not(Contains(home_))));
}

TEST_F(ToolFilesTest, AHomeFolderIsNotReadBecauseACompilerIsInIt) {
  Set("PATH", (home_ / "bin").string() + ":/usr/bin");
  EXPECT_THAT(Readable(), AllOf(Contains(home_ / "bin"), Contains(home_ / "lib"), Not(Contains(home_))));
}

TEST_F(ToolFilesTest, AHomeFolderIsNotReadBecauseLibrariesAreInIt) {
  Set("LD_LIBRARY_PATH", home_.string() + ":/:" + (home_ / "tools").string());
  EXPECT_THAT(Readable(), AllOf(Contains(home_ / "tools"), Not(Contains(home_)), Not(Contains(fs::path("/")))));
}

TEST_F(ToolFilesTest, ADriverHasItsDevicesAndSharedMemory) {
  Set("CUDA_MPS_PIPE_DIRECTORY", "/of/a/server");
  const FileAccess files = DriverFiles();
  for (const char* writable : {"/dev/shm", "/proc/self", "/of/a/server", "/dev/null"})
    EXPECT_THAT(files.writable, Contains(fs::path(writable)));
  EXPECT_THAT(files.readable, AllOf(Contains(fs::path("/usr")), Not(Contains(home_)), Not(Contains(fs::path("/etc")))));
  EXPECT_THAT(files.writable, Not(Contains(fs::path("/dev"))));
}

}  // namespace
}  // namespace evo
