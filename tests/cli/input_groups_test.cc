#include "cli/input_groups.h"

#include <gmock/gmock.h>

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(InputGroups, NamesTheArgumentsOnce) {
  EXPECT_THAT(
      GroupInputs({"A: normal(0,1) | scale(30) ; B: normal(0,1) | scale(30)", "A: normal(0,1) | scale(30)", "B: cauchy(1)",
                   "A: one_hot | scale(100) ; B: one_hot | scale(100)", "B: normal(0,1) | abs | shift(2)"}),
      ElementsAre("A and B: scale(30), one_hot | scale(100)", "A: scale(30)", "B: cauchy(1), abs | shift(2)"));
}

TEST(InputGroups, KeepsTheCaseApart) {
  EXPECT_THAT(
      GroupInputs({"A: cauchy(1) ; B: cauchy(1)", "A: cauchy(1) ; B: cauchy(1) with ragged", "A: normal(0,1) | abs with ragged"}),
      ElementsAre("A and B: cauchy(1)", "A and B with ragged: cauchy(1)", "A with ragged: abs"));
}

TEST(InputGroups, LeavesTheRestAsItIs) {
  EXPECT_THAT(GroupInputs({"A: cauchy(1) ; B: one_hot", "ROWS=1,COLS=7", "A: normal(0,1)"}),
              ElementsAre("A: normal(0,1)", "A: cauchy(1) ; B: one_hot", "ROWS=1,COLS=7"));
  EXPECT_THAT(GroupInputs({}), IsEmpty());
}

}  // namespace
}  // namespace evo
