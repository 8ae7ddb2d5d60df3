#include "evaluator/workers/unconfined.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Unconfined, IsWhatAWorkerSays) {
  EXPECT_THAT(UnconfinedIn({{"unconfined", {"seccomp: none", "Landlock: none"}}}),
              ElementsAre("Landlock: none", "seccomp: none"));
  EXPECT_THAT(UnconfinedIn({{"unconfined", nlohmann::json::array()}}), IsEmpty());
}

TEST(Unconfined, AWorkerThatDoesNotSayCountsAsNotConfined) {
  const auto says_nothing = ElementsAre(HasSubstr("does not say"));
  EXPECT_THAT(UnconfinedIn(nlohmann::json::object()), says_nothing);
  EXPECT_THAT(UnconfinedIn({{"unconfined", 3}}), says_nothing);
  EXPECT_THAT(UnconfinedIn({{"unconfined", {3, nullptr, "Landlock: none"}}}),
              ElementsAre("Landlock: none", HasSubstr("does not say")));
  EXPECT_THAT(UnconfinedIn(nlohmann::json::array()), says_nothing);
  EXPECT_THAT(UnconfinedIn(nullptr), says_nothing);
}

}  // namespace
}  // namespace evo
