#include "core/stall_line.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(StallLines, AreThoseWithMostOfTheSamples) {
  const std::vector<StallLine> lines = StallLines({{3, "long_scoreboard", 30},
                                                   {3, "barrier", 10},
                                                   {2, "barrier", 35},
                                                   {0, "wait", 20},
                                                   {1, "wait", 1},
                                                   {9, "math_pipe_throttle", 4}},
                                                  "first\n  second;\n\t third;\n");
  ASSERT_EQ(lines.size(), 3u) << "one in a hundred is left out";
  EXPECT_EQ(lines[0].line, 3);
  EXPECT_DOUBLE_EQ(lines[0].share, 0.4);
  EXPECT_EQ(lines[0].waits_for, "global memory");
  EXPECT_EQ(lines[0].code, "third;");
  EXPECT_EQ(lines[1].code, "second;");
  EXPECT_EQ(lines[1].waits_for, "barriers");
  EXPECT_EQ(lines[2].code, "") << "the source has no such line";
}

TEST(StallLines, WarpsThatIssueWaitForNothing) {
  const std::vector<StallLine> lines = StallLines({{1, "selected", 3}, {1, "not_selected", 3}, {1, "wait", 4}}, "x");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].waits_for, "nothing: it issues instructions");
}

TEST(StallLines, OfNoSamplesAreNone) {
  EXPECT_TRUE(StallLines({}, "x").empty());
  EXPECT_TRUE(StallLines({{1, "wait", 0}}, "x").empty());
}

TEST(StallLines, AnUnknownReasonIsNamedAsItIs) { EXPECT_EQ(DescribeStall("of_the_future"), "of_the_future"); }

}  // namespace
}  // namespace evo
