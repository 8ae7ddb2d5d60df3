#include "evaluator/compiler/host/prelude_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "platform/command.h"

namespace evo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A compiler that names its version, notes each compilation, and writes what it is asked for.
constexpr char kCompiler[] = R"(#!/bin/sh
folder=$(dirname "$0")
case "$*" in
  *-###*) cat "$folder/version" >&2; exit 0;;
esac
echo "$*" >> "$folder/compilations"
[ -e "$folder/broken" ] && { echo "prelude.h:1:1: error: no such thing" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case "$1" in
    -o) echo compiled > "$2";;
    -MF) echo "x.gch: $folder/a\\ header.h \\
 $folder/other.h" > "$2";;
  esac
  shift
done
)";

// How the companion is compiled, but for where it goes.
const std::vector<std::string> kObject = {"-O2", "runtime.cc"};

class PreludeCacheTest : public ::testing::Test {
 protected:
  PreludeCacheTest() {
    fs::create_directories(folder_ / "scratch");
    WriteFile(folder_ / "compiler", kCompiler);
    fs::permissions(folder_ / "compiler", fs::perms::owner_all);
    WriteFile(folder_ / "version", "1");
    WriteFile(folder_ / "a header.h", "1");
    WriteFile(folder_ / "other.h", "1");
  }
  ~PreludeCacheTest() override { fs::remove_all(folder_); }

  PreludeCache Open() const { return {folder_ / "compiler", folder_ / "cache", folder_ / "scratch"}; }
  int Compilations() const {
    const std::string text = ReadFile(folder_ / "compilations");
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  fs::path folder_ = fs::temp_directory_path() / ("evo-prelude-cache-test-" + std::to_string(::getpid()));
};

// sudo keeps HOME in some places: what root would load from there, the user may have written.
TEST_F(PreludeCacheTest, TrustsNoFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const fs::path kept = Open().Find({});
  ASSERT_EQ(kept.parent_path().parent_path(), folder_ / "cache");
  ASSERT_EQ(::chown((folder_ / "cache").c_str(), 65534, 65534), 0);
  EXPECT_EQ(Open().Find({}).parent_path().parent_path(), folder_ / "scratch");
}

TEST_F(PreludeCacheTest, KeepsWhatItMadeForTheNextProcess) {
  const fs::path header = Open().Find({"-O2"});
  EXPECT_TRUE(fs::exists(header.string() + ".gch"));
  EXPECT_EQ(header.parent_path().parent_path(), folder_ / "cache");
  EXPECT_EQ(Open().Find({"-O2"}), header);
  EXPECT_EQ(Compilations(), 1);
}

TEST_F(PreludeCacheTest, KeepsTheCompanionBesideTheHeader) {
  const fs::path header = Open().Find({"-O2"}, kObject);
  EXPECT_TRUE(fs::exists(PreludeCache::Companion(header)));
  EXPECT_THAT(ReadFile(folder_ / "compilations"), HasSubstr("-O2 runtime.cc -c -o "));
  EXPECT_EQ(Open().Find({"-O2"}, kObject), header);
  EXPECT_EQ(Open().Find({"-O2"}), header) << "a compilation that needs none finds the same header";
  EXPECT_EQ(Compilations(), 2) << "of the header and of the companion";
}

TEST_F(PreludeCacheTest, MakesACompanionThatIsMissingOrHasChanged) {
  fs::path header = Open().Find({});
  EXPECT_FALSE(fs::exists(PreludeCache::Companion(header))) << "nothing asked for one";
  header = Open().Find({}, kObject);
  EXPECT_TRUE(fs::exists(PreludeCache::Companion(header)));
  EXPECT_EQ(Compilations(), 3);
  fs::remove(PreludeCache::Companion(header));
  header = Open().Find({}, kObject);
  EXPECT_TRUE(fs::exists(PreludeCache::Companion(header)));
  EXPECT_EQ(Compilations(), 5);
  WriteFile(PreludeCache::Companion(header), "of another length");
  header = Open().Find({}, kObject);
  EXPECT_EQ(ReadFile(PreludeCache::Companion(header)), "compiled\n");
  EXPECT_EQ(Compilations(), 7);
}

TEST_F(PreludeCacheTest, MakesACompanionWhereNothingCanBeKept) {
  const PreludeCache cache(folder_ / "compiler", {}, folder_ / "scratch");
  cache.Find({});
  const fs::path header = cache.Find({}, kObject);
  EXPECT_TRUE(fs::exists(PreludeCache::Companion(header)));
  EXPECT_EQ(cache.Find({}, kObject), header);
  EXPECT_EQ(Compilations(), 3);
}

TEST_F(PreludeCacheTest, MakesItAgainWhenAHeaderChanges) {
  const fs::path first = Open().Find({});
  WriteFile(folder_ / "a header.h", "longer");
  const fs::path second = Open().Find({});
  EXPECT_NE(second, first) << "a running process may still use the first";
  EXPECT_TRUE(fs::exists(first));
  fs::remove(folder_ / "other.h");
  Open().Find({});
  EXPECT_EQ(Compilations(), 3);
}

TEST_F(PreludeCacheTest, MakesItForEveryCompiler) {
  const fs::path first = Open().Find({});
  WriteFile(folder_ / "version", "2");
  EXPECT_NE(Open().Find({}), first);
  EXPECT_EQ(Compilations(), 2);
}

TEST_F(PreludeCacheTest, MakesAgainWhatIsDamaged) {
  const fs::path header = Open().Find({});
  WriteFile(header.string() + ".gch", "");
  const fs::path again = Open().Find({});
  EXPECT_EQ(ReadFile(again.string() + ".gch"), "compiled\n");
  for (const auto& file : fs::directory_iterator(folder_ / "cache")) {
    if (file.path().extension() == ".json") WriteFile(file.path(), "{\"folder\": 3");
  }
  EXPECT_TRUE(fs::exists(Open().Find({})));
  EXPECT_EQ(Compilations(), 3);
}

TEST_F(PreludeCacheTest, UsesTheScratchFolderWhereNothingCanBeKept) {
  WriteFile(folder_ / "cache", "a file in the place of the folder");
  const PreludeCache cache = Open();
  const fs::path header = cache.Find({});
  EXPECT_EQ(header.parent_path().parent_path(), folder_ / "scratch");
  EXPECT_EQ(cache.Find({}), header);
  EXPECT_EQ(Compilations(), 1);
}

TEST_F(PreludeCacheTest, SaysWhyItCannotBeCompiled) {
  WriteFile(folder_ / "broken", "");
  try {
    Open().Find({});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot compile the cpu device's headers: no such thing"));
  }
  EXPECT_TRUE(fs::is_empty(folder_ / "cache")) << "nothing unfinished is left";
}

TEST_F(PreludeCacheTest, RemovesWhatNothingHasUsedForLong) {
  const fs::path old = Open().Find({}).parent_path();
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::days(31);
  for (const auto& file : fs::directory_iterator(folder_ / "cache")) fs::last_write_time(file.path(), long_ago);
  WriteFile(folder_ / "version", "2");
  const fs::path used = Open().Find({}).parent_path();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(used));
}

TEST(ParseDependencies, ReadsARule) {
  EXPECT_THAT(ParseDependencies("out.gch: a.h \\\n  b\\ c.h d$$e.h \\\n f.h\n"), ElementsAre("a.h", "b c.h", "d$e.h", "f.h"));
  EXPECT_THAT(ParseDependencies(""), ElementsAre());
}

}  // namespace
}  // namespace evo
