#include "engine/landscape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "core/error.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Landscape Read(const std::string& text, const LandscapeColumns& columns = {}) {
  std::istringstream stream(text);
  return ReadLandscape(stream, "a.csv", columns);
}

std::string Complaint(const std::string& text, const LandscapeColumns& columns = {}) {
  try {
    Read(text, columns);
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "none";
}

constexpr const char* kGood =
    "BLOCK,LAYOUT,ONE,status,max_error,median_us\n16,row,1,ok,0,20.5\n8,col,1,ok,0,1e1\n128,row,1,timeout,,\n";

TEST(Landscape, ReadsParametersStatusAndScore) {
  const Landscape landscape = Read(kGood);
  ASSERT_THAT(landscape.parameters, SizeIs(2)) << "a column with one value is no parameter";
  EXPECT_EQ(landscape.parameters[0].name, "BLOCK");
  EXPECT_EQ(landscape.parameters[0].kind, FeatureKind::kOrdinal);
  EXPECT_THAT(landscape.parameters[0].values, ElementsAre("8", "16", "128")) << "as numbers";
  EXPECT_EQ(landscape.parameters[1].kind, FeatureKind::kCategorical);
  EXPECT_THAT(landscape.parameters[1].values, ElementsAre("col", "row"));
  EXPECT_THAT(landscape.levels, ElementsAre(ElementsAre(1, 1), ElementsAre(0, 0), ElementsAre(2, 1)));
  EXPECT_EQ(landscape.scores[0], 20.5);
  EXPECT_TRUE(std::isnan(landscape.scores[2])) << "it failed";
  EXPECT_EQ(landscape.optimum, 10);
  EXPECT_EQ(landscape.index.at({2, 1}), 2U);
  EXPECT_THAT(landscape.At(0), ElementsAre(0.5, 1)) << "the middle of three values; the number of the word";
}

TEST(Landscape, ReadsOtherSpellings) {
  const Landscape same = Read(
      "\xef\xbb\xbf\"BLOCK\";LAYOUT;ONE;status;max_error;median_us\r\n16; \"row\" ;1;ok;0;20.5\r\n\r\n# a "
      "remark\r\n8;col;1;ok;0;10\r\n");
  EXPECT_THAT(same.scores, ElementsAre(20.5, 10));
  EXPECT_EQ(same.parameters[0].name, "BLOCK");
  EXPECT_EQ(same.parameters[1].values[1], "row");
}

TEST(Landscape, FindsColumnsByName) {
  LandscapeColumns columns;
  columns.score = "ns";
  columns.status = "outcome";
  columns.ok = "correct";
  columns.parameters = {"b"};
  const Landscape landscape = Read("ns,a,outcome,b\n5,1,correct,7\n3,1,correct,9\n1,1,wrong,8\n", columns);
  EXPECT_THAT(landscape.parameters, SizeIs(1));
  EXPECT_EQ(landscape.optimum, 3);
}

TEST(Landscape, AnEmptyScoreCountsAsFailedIfThereIsNoStatus) {
  const Landscape landscape = Read("a,median_us\n1,5\n2,\n3,nan\n4,inf\n");
  EXPECT_EQ(landscape.optimum, 5);
  for (const std::size_t failed : {1U, 2U, 3U}) EXPECT_TRUE(std::isnan(landscape.scores[failed])) << failed;
}

TEST(Landscape, ReadsNumbersWithASign) {
  const Landscape landscape = Read("a,median_us\n+1,+5\n-1,4\n");
  EXPECT_THAT(landscape.parameters[0].values, ElementsAre("-1", "+1"));
  EXPECT_EQ(landscape.scores[0], 5);
}

TEST(Landscape, SpellingsOfOneNumberAreOneValue) {
  const Landscape landscape = Read("a,b,median_us\n1,0,5\n1.0,1,4\n1e0,2,3\n2,0,2\n");
  EXPECT_THAT(landscape.parameters[0].values, ElementsAre("1", "2"));
  EXPECT_THAT(landscape.levels, ElementsAre(ElementsAre(0, 0), ElementsAre(0, 1), ElementsAre(0, 2), ElementsAre(1, 0)));
  EXPECT_THAT(Complaint("a,median_us\n1,5\n1.0,4\n"), HasSubstr("a.csv:3: the same parameters as in line 2"));
}

TEST(Landscape, NanIsAWord) {
  const Landscape landscape = Read("a,median_us\n1,5\nnan,4\ninf,3\n");
  EXPECT_EQ(landscape.parameters[0].kind, FeatureKind::kCategorical);
  EXPECT_THAT(landscape.parameters[0].values, ElementsAre("1", "inf", "nan"));
}

TEST(Landscape, ShowsHowOftenTwoDividesAValue) {
  // 48 = 16 * 3. Powers of two say by their magnitude how often 2 divides them.
  const Landscape landscape = Read("block,power,median_us\n16,1,5\n48,2,4\n64,4,3\n0,4,2\n");
  EXPECT_THAT(landscape.Kinds(), SizeIs(3)) << "two ranks, one divisibility";
  EXPECT_THAT(landscape.At(0), ElementsAre(1.0 / 3, 0, 4.0 / 6));
  EXPECT_THAT(landscape.At(2), ElementsAre(1, 1, 1));
  EXPECT_THAT(landscape.At(3), ElementsAre(0, 1, 0));
}

TEST(DivisibilityTells, WhereMagnitudesDoNot) {
  using Values = std::vector<std::int64_t>;
  EXPECT_TRUE(DivisibilityTells(Values{16, 32, 48, 64}));
  EXPECT_FALSE(DivisibilityTells(Values{0, 1, 2, 4, 256})) << "powers of two";
  EXPECT_FALSE(DivisibilityTells(Values{1, 3, 5})) << "all odd";
  EXPECT_FALSE(DivisibilityTells(Values{0, 1}));
  EXPECT_FALSE(DivisibilityTells(Values{}));
  EXPECT_EQ(TimesDivisibleByTwo(-96), 5);
}

TEST(Landscape, RefusesHeadingsThatAreNotClear) {
  EXPECT_THAT(Complaint("a,a,median_us\n1,2,3\n"), HasSubstr("a.csv:1: columns 1 and 2 are both called 'a'"));
  EXPECT_THAT(Complaint("a,,median_us\n1,2,3\n"), HasSubstr("a.csv:1: column 2 of the heading has no name"));
  EXPECT_THAT(Complaint(std::string("\x7f"
                                    "ELF\0\1",
                                    6) +
                        "\n"),
              HasSubstr("a.csv:1: this is no text"));
  std::string many;
  for (int i = 0; i < 40; ++i) many += "c" + std::to_string(i) + ",";
  EXPECT_THAT(Complaint(many + "us\n"), HasSubstr("c19 and 21 more; name the right one with --score"));
}

TEST(Landscape, NamesTheErrorAndItsLine) {
  EXPECT_THAT(Complaint(""), HasSubstr("a.csv: it is empty"));
  EXPECT_THAT(Complaint("a,status,us\n1,ok,3\n"),
              HasSubstr("a.csv: no column 'median_us' among a, status, us; name the right one with --score"));
  EXPECT_THAT(Complaint("status,median_us\nok,3\n"), HasSubstr("--parameters"));
  EXPECT_THAT(Complaint("a,status,median_us\n1,ok,fast\n"), HasSubstr("a.csv:2: median_us is 'fast'"));
  EXPECT_THAT(Complaint("a,status,median_us\n1,ok,\n"), HasSubstr("a.csv:2"));
  EXPECT_THAT(Complaint("a,status,median_us\n1,ok,3\n2,ok,-1\n"), HasSubstr("a.csv:3"));
  EXPECT_THAT(Complaint("a,status,median_us\n1,ok,inf\n"), HasSubstr("a.csv:2"));
  EXPECT_THAT(Complaint("a,median_us\n1,failed\n"), HasSubstr("leave it empty if the point failed"));
  EXPECT_THAT(Complaint("a,status,median_us\n1,ok\n"), HasSubstr("a.csv:2: 2 fields where the heading has 3"));
  EXPECT_THAT(Complaint("a,status,median_us\n1,crash,3\n"), HasSubstr("none of its 1 points is ok"));
  EXPECT_THAT(Complaint("a,status,median_us\n"), HasSubstr("none of its 0 points is ok"));
  EXPECT_THAT(Complaint("a,status,median_us\n1,ok,3\n2,ok,4\n1,ok,5\n"), HasSubstr("a.csv:4: the same parameters as in line 2"));
  LandscapeColumns columns;
  columns.parameters = {"c"};
  EXPECT_THAT(Complaint("a,status,median_us\n1,ok,3\n", columns), HasSubstr("no column 'c'"));
}

}  // namespace
}  // namespace evo
