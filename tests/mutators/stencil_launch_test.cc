#include "mutators/analysis/stencils/stencil_launch.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "mutators/analysis/stencils/stencil_roles.h"
#include "mutators/analysis/stencils/stencil_tables.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Rows of 12 elements, planes of `rows` of them. Each thread stores the element of its number.
StencilLaunch LaunchOf(std::int64_t rows, std::size_t dimensions) {
  StencilLaunch launch;
  launch.dimensions = dimensions;
  launch.lengths = {12, rows};
  launch.reads = {{0, 0, 0}, {12, rows, 10}};
  for (std::int64_t i = 0; i < 12 * rows * (dimensions == 2 ? 1 : 10); ++i) launch.threads.push_back({i, i, {}, {}});
  return launch;
}

TEST(StencilBox, GrowsUntilItContainsEachPlace) {
  StencilBox box;
  EXPECT_TRUE(box.IsEmpty());
  box.Add({-3, 4, 0});
  EXPECT_EQ(box, (StencilBox{{-3, 4, 0}, {-2, 5, 1}}));
  box.Add({1, 2, 0});
  EXPECT_EQ(box, (StencilBox{{-3, 2, 0}, {2, 5, 1}}));
  EXPECT_EQ(box.Volume(), 15);
}

TEST(StencilLaunch, KnowsWhereElementsAre) {
  const StencilLaunch flat = LaunchOf(9, 2), deep = LaunchOf(9, 3);
  EXPECT_THAT(flat.PlaceOf(12 * 10 + 5), ElementsAre(5, 10, 0));
  EXPECT_THAT(deep.PlaceOf(12 * 10 + 5), ElementsAre(5, 1, 1));
  const auto inner = [](const StencilLaunch& launch) {
    return std::count_if(launch.threads.begin(), launch.threads.end(),
                         [&](const StencilThread& thread) { return launch.IsInner(thread); });
  };
  EXPECT_EQ(inner(flat), 4 * 1);
  EXPECT_EQ(inner(deep), 4 * 1 * 2);
}

TEST(StencilRoles, AreTheSameInAllThreads) {
  constexpr int kColumn = 1, kRow = 2, kIndex = 3, kAlmost = 4, kFar = 5, kOther = 6;
  StencilLaunches launches{LaunchOf(10, 2), LaunchOf(13, 2)};
  for (StencilLaunch& launch : launches) {
    for (StencilThread& thread : launch.threads) {
      const StencilPlace place = launch.PlaceOf(thread.element);
      thread.values = {{kColumn, place[0]},
                       {kIndex, thread.element - 1},
                       {kAlmost, thread.element == 130 ? 0 : place[1]},
                       {kFar, place[0] + 9},
                       {kOther, 2 * place[0]}};
      // A variable that threads at an edge leave out.
      if (place[1] > 0) thread.values[kRow] = place[1] + 2;
    }
  }
  const auto roles = StencilRolesOf(launches, {kColumn, kRow, kIndex, kAlmost, kFar, kOther});
  EXPECT_THAT(roles, ElementsAre(Pair(kColumn, Stencil::Role{0, 0}), Pair(kRow, Stencil::Role{1, 2}),
                                 Pair(kIndex, Stencil::Role{Stencil::kElement, -1})));
}

TEST(StencilTables, AreReadInTheirBoxOnly) {
  constexpr int kWeights = 7, kNode = 70;
  Stencil::Table table{kWeights, 2, 2, {kNode}, {}};
  table.readers[0] = {1, {"n", "N"}};
  table.readers[1] = {0, {"m", "M"}};
  StencilLaunch launch = LaunchOf(9, 2);
  launch.setting.values = {{"N", Number::Integer(12)}, {"M", Number::Integer(9)}};
  for (StencilThread& thread : launch.threads) {
    if (launch.PlaceOf(thread.element)[0] == 0) continue;
    for (const std::int64_t weight : {3, 2}) thread.touches.push_back({kNode, kWeights, weight, false, {}});
  }
  EXPECT_TRUE(ReadAsTable(launch, table));
  StencilThread& edge = launch.threads.front();
  edge.touches.push_back({kNode, kWeights, 2, false, {}});
  EXPECT_FALSE(ReadAsTable(launch, table));
  edge.touches.clear();
  launch.threads.back().touches.pop_back();
  EXPECT_FALSE(ReadAsTable(launch, table));
}

}  // namespace
}  // namespace evo
