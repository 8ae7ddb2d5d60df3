#include "cli/terminal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/cli/captured_output.h"

namespace evo {
namespace {

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdefg", 6), "abcde…");
  EXPECT_EQ(Shortened("äöüäöü", 6), "äöüäöü");
  EXPECT_EQ(Shortened("äöüäöüä", 6), "äöüäö…");
  EXPECT_EQ(Shortened("ab", 1), "…");
  EXPECT_EQ(Shortened("", 1), "");
  EXPECT_EQ(ColumnsOf("aä…"), 3U);
}

TEST(Sparkline, DrawsEachValueOrTheMeanOfSeveral) {
  EXPECT_EQ(Sparkline({1, 2, 3, 4, 5, 6, 7, 8}, 20), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(Sparkline({1, 1, 8, 8}, 2), "▁█");
  EXPECT_EQ(Sparkline({3, 3}, 20), "▁▁");
  EXPECT_EQ(Sparkline({1, std::nan(""), 2}, 20), "▁ █");
  EXPECT_EQ(Sparkline({std::nan("")}, 20), "");
  EXPECT_EQ(Sparkline({}, 20), "");
  EXPECT_EQ(LogSparkline({1000, 100, 10, 1}, 20), "█▆▃▁");
  EXPECT_EQ(LogSparkline({100, 0, 1}, 20), "█ ▁");
}

TEST(InColour, IsForTerminals) {
  testing::CapturedOutput out;
  EXPECT_EQ(InColour(out.stream(), Colour::kRed, "-x"), "-x");
  const Pager pager(out.stream());  // no terminal: no pager
}

}  // namespace
}  // namespace evo
