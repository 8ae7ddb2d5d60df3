#include "import/preprocessor.h"

#include <gtest/gtest.h>

#include <string>

namespace evo {
namespace {

// A character for each line that is no directive: + active, - not.
std::string Lines(const std::string& text) {
  std::string result;
  std::size_t at = 0;
  for (const PreprocessedLine& line : PreprocessedLines(text)) {
    if (at < text.size() && text[at] != '#') result += line.active ? '+' : '-';
    at = text.find('\n', at) + 1;
  }
  return result;
}

TEST(Preprocessor, FollowsTheMacrosOfTheText) {
  EXPECT_EQ(Lines("#ifdef A\nint a;\n#elif defined(B)\nint b;\n#else\nint c;\n#endif\n"), "--+");
  EXPECT_EQ(Lines("#define B 1\n#ifdef A\nint a;\n#elif defined(B)\nint b;\n#else\nint c;\n#endif\n"), "-+-");
  EXPECT_EQ(Lines("#if !defined(SMALL) && !defined LARGE\n#define MIDDLE\n#endif\n#ifdef MIDDLE\nint n;\n#endif\n"), "+");
  EXPECT_EQ(Lines("#define N 4 // blocks\n#if N * 2 > 7\nint a;\n#else\nint b;\n#endif\n"), "+-");
  EXPECT_EQ(Lines("#if 0\n#if 1\nint a;\n#endif\nint b;\n#endif\nint c;\n"), "--+");
  EXPECT_EQ(Lines("#define A\n#undef A\n#ifndef A\nint a;\n#endif\n"), "+");
}

TEST(Preprocessor, LeavesOpenWhatOnlyTheCompilerKnows) {
  const std::string text = "#if __CUDA_ARCH__ >= 800\nint a;\n#else\nint b;\n#endif\n#ifdef __CUDACC__\nint c;\n#endif\n";
  EXPECT_EQ(Lines(text), "+++");
  EXPECT_FALSE(PreprocessedLines(text)[0].decided);
  EXPECT_TRUE(PreprocessedLines(text)[5].decided);
  EXPECT_EQ(Lines("#ifdef __HIPCC__\nint a;\n#endif\n"), "-");
  EXPECT_EQ(Lines("#endif\n#else\n#if\nint a;\n"), "+") << "not a program, but no crash";
}

}  // namespace
}  // namespace evo
