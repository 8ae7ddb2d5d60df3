#include "evaluator/device/cpu/shared_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace evo {
namespace {

using testing::Pair;

class SharedVariablesTest : public testing::Test {
 protected:
  std::uintptr_t At(std::size_t offset) const { return reinterpret_cast<std::uintptr_t>(area_.data()) + offset; }

  std::array<char, 64 * 1024> area_{};
  SharedVariables variables_{area_.data(), area_.size()};
};

TEST_F(SharedVariablesTest, PlacesEachVariableOnce) {
  EXPECT_THAT(variables_.Place(0, 100), Pair(area_.data(), true));
  EXPECT_THAT(variables_.Place(1, 8), Pair(area_.data() + 128, true));
  EXPECT_THAT(variables_.Place(0, 100), Pair(area_.data(), false));
  EXPECT_EQ(variables_.declared(), 136u);
  EXPECT_EQ(variables_.granted(), 256u);
  EXPECT_EQ(variables_.placed(), 256u);
}

TEST_F(SharedVariablesTest, ForgetsThemAtTheNextLaunch) {
  variables_.Place(0, 100);
  variables_.BeginLaunch(false);
  EXPECT_EQ(variables_.placed(), 0u);
  EXPECT_EQ(variables_.Nearest(At(0)), nullptr);
  EXPECT_THAT(variables_.Place(1, 8), Pair(area_.data(), true));
}

TEST_F(SharedVariablesTest, KeepsThemApartOnDemand) {
  variables_.BeginLaunch(true);
  variables_.Place(0, 128);
  EXPECT_THAT(variables_.Place(1, 8), Pair(area_.data() + 256, true));
  EXPECT_TRUE(variables_.Hold(At(120), 8));
  EXPECT_FALSE(variables_.Hold(At(124), 8)) << "across the end";
  EXPECT_FALSE(variables_.Hold(At(128), 1)) << "between them";
  EXPECT_TRUE(variables_.Hold(At(256), 8));
  EXPECT_EQ(variables_.Nearest(At(200))->bytes, 128u);
  EXPECT_EQ(variables_.Nearest(At(300))->bytes, 8u);
}

TEST_F(SharedVariablesTest, GivesNoMoreThanABlockMayHave) {
  variables_.Place(0, 40 * 1024);
  EXPECT_EQ(variables_.Place(1, 10 * 1024).first, nullptr);
  EXPECT_EQ(variables_.declared(), 50u * 1024);
  EXPECT_EQ(variables_.granted(), 40u * 1024);
}

}  // namespace
}  // namespace evo
