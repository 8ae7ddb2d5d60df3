#include "core/outcome.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace evo {
namespace {

TEST(Outcome, EveryNameIsReadBack) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Outcome::kCancelled); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(ParseOutcome(ToString(outcome)), outcome);
    names.insert(ToString(outcome));
  }
  EXPECT_EQ(names.size(), 13u);
  EXPECT_EQ(ToString(Outcome::kWrongResult), "wrong_result");
  EXPECT_EQ(ParseOutcome("Ok"), std::nullopt);
}

TEST(Stage, EveryNameIsReadBack) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Stage::kHeldOut); ++i) {
    const auto stage = static_cast<Stage>(i);
    EXPECT_EQ(ParseStage(ToString(stage)), stage);
    names.insert(ToString(stage));
  }
  EXPECT_EQ(names.size(), 10u);
  EXPECT_EQ(ToString(Stage::kHeldOut), "held_out");
  EXPECT_EQ(ParseStage(""), std::nullopt);
}

}  // namespace
}  // namespace evo
