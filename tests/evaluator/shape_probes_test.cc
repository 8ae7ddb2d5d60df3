#include "evaluator/session/shape_probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "evaluator/gate/input_generator.h"

namespace evo {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr ShapeLimits kGenerous{1e12, 1e12};

Task Rows() {
  return ParseTask(R"json({
    "name": "rows", "summary": "y = x", "sizes": ["ROWS", "COLS"],
    "arguments": [
      {"name": "x", "role": "in", "dtype": "f32", "shape": ["ROWS", "COLS"], "generators": ["normal"]},
      {"name": "y", "role": "out", "dtype": "f32", "shape": ["ROWS", "COLS"], "check": "exact"}
    ],
    "cases": {
      "small": {"name": "small", "sizes": {"ROWS": 5, "COLS": 30}},
      "search": [{"name": "a", "sizes": {"ROWS": 64, "COLS": 100}}],
      "search_cpu": [{"name": "b", "sizes": {"ROWS": 8, "COLS": 8}}],
      "held_out": [{"name": "c", "sizes": {"ROWS": 1, "COLS": 1}}],
      "held_out_cpu": [{"name": "d", "sizes": {"ROWS": 1, "COLS": 1}}]
    },
    "baseline": "k", "bytes": "8 * ROWS * COLS", "operations": "ROWS * COLS"
  })json",
                   "// evo:launch k(x, y) grid(1) block(1)\n", "rows");
}

std::vector<std::string> Names(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const Case& one : cases) names.push_back(one.name);
  return names;
}

TEST(ShapeProbes, TryEachSizeAtOneHalfAPrimeAndDouble) {
  const Task task = Rows();
  const auto names = Names(ShapeProbes(task, task.search_cuda.front(), task.small, {64 * 200, 1e9}));
  EXPECT_THAT(std::vector(names.begin(), names.begin() + 8),
              ElementsAre("ROWS=1,COLS=100", "ROWS=32,COLS=100", "ROWS=67,COLS=100", "ROWS=128,COLS=100", "ROWS=64,COLS=1",
                          "ROWS=64,COLS=50", "ROWS=64,COLS=101", "ROWS=64,COLS=200"));
}

// The loop over sizes of H did not end.
TEST(ShapeProbes, EndWhereNoLargeSizeIsLegal) {
  const Task task = ParseTask(R"json({
    "name": "groups", "summary": "y = x", "sizes": ["H"],
    "arguments": [
      {"name": "x", "role": "in", "dtype": "f32", "shape": ["H % 4 == 0 ? H / 4 : 0"], "generators": ["normal"]},
      {"name": "y", "role": "out", "dtype": "f32", "shape": ["H"], "check": "exact"}
    ],
    "cases": {
      "small": {"name": "small", "sizes": {"H": 8}}, "search": [{"name": "a", "sizes": {"H": 8}}],
      "search_cpu": [{"name": "b", "sizes": {"H": 8}}], "held_out": [{"name": "c", "sizes": {"H": 4}}],
      "held_out_cpu": [{"name": "d", "sizes": {"H": 4}}]
    },
    "baseline": "k", "bytes": "8 * H", "operations": "H"
  })json",
                              "// evo:launch k(x, y) grid(1) block(1)\n", "groups");
  EXPECT_THAT(Names(ShapeProbes(task, task.search_cuda.front(), task.small, kGenerous)), ElementsAre("H=4", "H=16"));
}

TEST(ShapeProbes, KnowWhichSizesAreLargerThanTheTasks) {
  const Task task = Rows();
  EXPECT_FALSE(LargerThanListed(task, task.search_cuda.front()));
  EXPECT_FALSE(LargerThanListed(task, {"", {{"ROWS", 63}, {"COLS", 100}}, 1}));
  EXPECT_TRUE(LargerThanListed(task, {"", {{"ROWS", 65}, {"COLS", 1}}, 1}));
  EXPECT_TRUE(LargerThanListed(task, {"", {{"ROWS", 1}, {"COLS", 101}}, 1}));
}

TEST(ShapeProbes, TryLargeSizesAndManyElements) {
  const Task task = Rows();
  for (const Case& one : ShapeProbes(task, task.search_cuda.front(), task.small, kGenerous)) {
    const auto rows = one.sizes.at("ROWS");
    const auto columns = one.sizes.at("COLS");
    if (rows <= 65'535 && columns <= 65'535) continue;
    EXPECT_GT(rows * columns, 1 << 24) << one.name;
  }
  const auto names = Names(ShapeProbes(task, task.search_cuda.front(), task.small, kGenerous));
  EXPECT_THAT(names, Contains(::testing::StartsWith("ROWS=65537,")));
  EXPECT_THAT(names, Contains(::testing::EndsWith(",COLS=65537")));
}

TEST(ShapeProbes, TryEqualSizes) {
  const Task task = Rows();
  EXPECT_THAT(Names(ShapeProbes(task, task.search_cuda.front(), task.small, kGenerous)), Contains("ROWS=64,COLS=64"));
}

TEST(ShapeProbes, StayWithinTheLimits) {
  const Task task = Rows();
  const ShapeLimits limits{20'000, 1e9};
  const auto cases = ShapeProbes(task, task.search_cuda.front(), task.small, limits);
  for (const Case& one : cases) EXPECT_LE(one.sizes.at("ROWS") * one.sizes.at("COLS"), 20'000) << one.name;
  const auto largest = std::max_element(cases.begin(), cases.end(),
                                        [](const Case& a, const Case& b) { return a.sizes.at("ROWS") < b.sizes.at("ROWS"); });
  EXPECT_GT(largest->sizes.at("ROWS"), 10'000) << "as large as the limits allow, at the cost of the other size";
}

TEST(ShapeProbes, AreDifferentFromEachOther) {
  const Task task = Rows();
  auto names = Names(ShapeProbes(task, task.held_out.front(), task.small, {3, 1e9}));
  EXPECT_THAT(names, Not(Contains("ROWS=1,COLS=1"))) << "the usual case";
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(ShapeProbes, NamesAreReadAgain) {
  const Task task = Rows();
  EXPECT_EQ(FindCase(task, "a")->sizes.at("COLS"), 100);
  EXPECT_EQ(FindCase(task, "ROWS=3,COLS=7")->sizes.at("ROWS"), 3);
  for (const char* wrong : {"b2", "ROWS=3", "ROWS=3,COLS=", "ROWS=3,COLS=0", "ROWS=3,COLS=7,X=1", "ROWS=3,OTHER=7", ""})
    EXPECT_FALSE(FindCase(task, wrong)) << wrong;
}

TEST(ShapeProbes, ShrinkTheLargestSizesFirst) {
  const Task task = Rows();
  EXPECT_EQ(ShrunkCase(task, task.small, 50).name, "ROWS=5,COLS=8");
  EXPECT_EQ(ShrunkCase(task, task.small, 150).name, "ROWS=5,COLS=30");
  EXPECT_EQ(ShrunkCase(task, task.small, 1).name, "ROWS=1,COLS=1");
}

TEST(ShapeProbes, LargeInputsRepeatWithAPeriodThatDividesNothing) {
  const Task task = Rows();
  Case large{"large", {{"ROWS", 1100}, {"COLS", 1000}}, 1};
  const DrawnArguments drawn = DrawArgumentsOfSizes(task, large, 7);
  const std::vector<double> values = ToDoubles(drawn[0], Dtype::kF32);
  ASSERT_EQ(values.size(), 1'100'000U);
  EXPECT_EQ(values[1'048'583], values[0]);
  EXPECT_EQ(values[1'099'999], values[1'099'999 - 1'048'583]);
  EXPECT_NE(values[1'048'576], values[0]);
  EXPECT_EQ(drawn, DrawArgumentsOfSizes(task, large, 7));
  EXPECT_NE(drawn, DrawArgumentsOfSizes(task, large, 8));
}

}  // namespace
}  // namespace evo
