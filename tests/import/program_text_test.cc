#include "import/program_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ProgramTextTest : public testing::Test {
 protected:
  ProgramTextTest() : folder_(std::filesystem::temp_directory_path() / ("program_text_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_ / "parts");
  }
  ~ProgramTextTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::string Refusal(const std::filesystem::path& file) const {
    try {
      ReadProgramText(file, {});
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  std::filesystem::path folder_;
};

TEST_F(ProgramTextTest, LocalHeadersTakeThePlaceOfTheirIncludes) {
  Write("parts/inner.cuh", "#pragma once\nint inner;\n");
  Write("outer.h", "#include \"parts/inner.cuh\"\nint outer;\n");
  const auto file =
      Write("a.cu", "#include <cstdio>\n#include \"outer.h\"\n#include \"parts/inner.cuh\"\n#include \"gone.h\"\nint last;\n");
  const ProgramText text = ReadProgramText(file, {});
  EXPECT_EQ(text.text, "#include <cstdio>\n\nint inner;\nint outer;\n\n#include <gone.h>\nint last;\n");
  ASSERT_EQ(text.lines.size(), 7U);
  EXPECT_EQ(text.lines[2].file, "inner.cuh");
  EXPECT_EQ(text.lines[2].line, 2);
  EXPECT_EQ(text.lines[6].file, "a.cu");
  EXPECT_EQ(text.lines[6].line, 5);
}

TEST_F(ProgramTextTest, HeadersAreFoundInTheFoldersGiven) {
  Write("parts/far.h", "int far;\n");
  const auto file = Write("a.cu", "#include \"far.h\"\n");
  EXPECT_EQ(ReadProgramText(file, {}).text, "#include <far.h>\n") << "the parser says whether the toolkit has it";
  EXPECT_EQ(ReadProgramText(file, {folder_ / "parts"}).text, "int far;\n");
  const auto angle = Write("b.cu", "#include <far.h>  // of the project\n#include <cstdio>\n");
  EXPECT_EQ(ReadProgramText(angle, {folder_ / "parts"}).text, "int far;\n#include <cstdio>\n");
  EXPECT_EQ(ReadProgramText(angle, {}).text, "#include <far.h>  // of the project\n#include <cstdio>\n");
}

TEST_F(ProgramTextTest, RefusesWhatIsNoSource) {
  EXPECT_THAT(Refusal(folder_ / "none.cu"), HasSubstr("none.cu: there is no such file"));
  EXPECT_THAT(Refusal(folder_), HasSubstr("a folder; name the .cu file in it"));
  EXPECT_THAT(Refusal(Write("binary.cu", std::string("\x7f"
                                                     "ELF\0\0",
                                                     6))),
              HasSubstr("not a text"));
  EXPECT_THAT(Refusal(Write("empty.cu", "")), HasSubstr("the file is empty"));
  EXPECT_THAT(Refusal(Write("large.cu", std::string(5 << 20, 'x'))), HasSubstr("5 MiB; a source has at most 4 MiB"));
  EXPECT_THAT(Refusal("/dev/zero"), HasSubstr("not a regular file"));
  EXPECT_EQ(Refusal(Write("good.cu", "int x;\n")), "");
}

TEST_F(ProgramTextTest, AHeaderThatIncludesItselfIsReadOnce) {
  Write("round.h", "#include \"round.h\"\nint round;\n");
  EXPECT_EQ(ReadProgramText(Write("a.cu", "#include \"round.h\"\n"), {}).text, "\nint round;\n");
}

}  // namespace
}  // namespace evo
