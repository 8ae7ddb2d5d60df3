#include "cli/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputFileTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string TextOf(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  static std::string MessageOf(const std::string& file) {
    try {
      WriteOutputFile(file, "text");
    } catch (const UsageError& error) {
      return std::string("usage: ") + error.what();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  long Files() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }

  testing::TemporaryFolder folder_;
};

TEST_F(OutputFileTest, ANewFileHasTheTextAndNothingIsLeftBesideIt) {
  WriteOutputFile(Path("kernel.cu"), "new");
  EXPECT_EQ(TextOf(Path("kernel.cu")), "new");
  EXPECT_EQ(Files(), 1);
  EXPECT_TRUE(IsRegularOutput(Path("kernel.cu")));
  EXPECT_TRUE(IsRegularOutput(Path("none.cu")));
}

TEST_F(OutputFileTest, AFileIsReplacedWholeAndKeepsItsPermissions) {
  std::ofstream(Path("kernel.cu")) << std::string(10'000, 'x');
  fs::permissions(Path("kernel.cu"), fs::perms(0640));
  std::ifstream reader(Path("kernel.cu"));
  WriteOutputFile(Path("kernel.cu"), "new");
  EXPECT_EQ(TextOf(Path("kernel.cu")), "new");
  EXPECT_EQ(fs::status(Path("kernel.cu")).permissions(), fs::perms(0640));
  std::ostringstream seen;
  seen << reader.rdbuf();
  EXPECT_EQ(seen.str().size(), 10'000u) << "a reader sees the old text or the new one";
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, LinksStayAndTheirTargetIsWritten) {
  fs::create_directory(Path("exports"));
  std::ofstream(Path("exports/kernel.cu")) << "old";
  fs::create_symlink("exports/kernel.cu", Path("one"));
  fs::create_symlink("one", Path("two"));
  WriteOutputFile(Path("two"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("two")) && fs::is_symlink(Path("one")));
  EXPECT_FALSE(fs::is_symlink(Path("exports/kernel.cu")));
  EXPECT_EQ(TextOf(Path("exports/kernel.cu")), "new");
  fs::create_symlink("exports/later.cu", Path("dangling"));
  WriteOutputFile(Path("dangling"), "first");
  EXPECT_TRUE(fs::is_symlink(Path("dangling")));
  EXPECT_EQ(TextOf(Path("exports/later.cu")), "first");
  fs::create_symlink("loop", Path("loop"));
  EXPECT_THAT(MessageOf(Path("loop")), HasSubstr("loop: cannot be written ("));
}

TEST_F(OutputFileTest, APipeIsWrittenToAndStays) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const int reader = ::open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  WriteOutputFile(Path("pipe"), "through");
  char bytes[16] = {};
  EXPECT_EQ(::read(reader, bytes, sizeof bytes), 7);
  EXPECT_STREQ(bytes, "through");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
  EXPECT_FALSE(IsRegularOutput(Path("pipe")));
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, ADeviceIsWrittenToAndStays) {
  fs::create_symlink("/dev/null", Path("null"));
  fs::create_symlink("/dev/full", Path("full"));
  EXPECT_EQ(MessageOf(Path("null")), "nothing was thrown");
  EXPECT_THAT(MessageOf(Path("full")), HasSubstr("full: cannot be written (No space left on device)"));
  for (const char* link : {"null", "full"}) {
    EXPECT_TRUE(fs::is_symlink(Path(link)));
    EXPECT_TRUE(fs::is_character_file(Path(link)));
    EXPECT_FALSE(IsRegularOutput(Path(link)));
  }
  EXPECT_EQ(Files(), 2);
}

TEST_F(OutputFileTest, WhatCannotBeWrittenSoIsRefused) {
  EXPECT_THAT(MessageOf(""), HasSubstr("usage: a file without a name"));
  EXPECT_THAT(MessageOf(folder_.path().string()), HasSubstr("a folder; name a file"));
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  const std::string name = Path("socket");
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::copy(name.begin(), name.end(), address.sun_path);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(MessageOf(name), HasSubstr("usage: "));
  ::close(listener);
  EXPECT_TRUE(fs::is_socket(name));
  EXPECT_THAT(MessageOf(Path("none/kernel.cu")), HasSubstr("cannot be written (No such file or directory)"));
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, AFileBesideItWithTheTemporaryNameStays) {
  const std::string taken = Path("kernel.cu") + "." + std::to_string(::getpid()) + "-0.tmp";
  fs::create_symlink(Path("victim"), taken);
  WriteOutputFile(Path("kernel.cu"), "new");
  EXPECT_TRUE(fs::is_symlink(taken));
  EXPECT_FALSE(fs::exists(Path("victim")));
  EXPECT_EQ(TextOf(Path("kernel.cu")), "new");
}

}  // namespace
}  // namespace evo
