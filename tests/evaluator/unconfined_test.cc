#include "evaluator/workers/unconfined.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Unconfined, IsWhatAWorkerSays) {
  EXPECT_THAT(UnconfinedIn({{"unconfined", {"seccomp: none", "Landlock: none"}}}),
              ElementsAre("Landlock: none", "seccomp: none"));
  EXPECT_THAT(UnconfinedIn({{"unconfined", nlohmann::json::array()}}), IsEmpty());
  EXPECT_THAT(UnconfinedIn(nlohmann::json::object()), IsEmpty()) << "a worker of a test";
}

TEST(Unconfined, AWorkerMaySendAnything) {
  EXPECT_THAT(UnconfinedIn({{"unconfined", 3}}), IsEmpty());
  EXPECT_THAT(UnconfinedIn({{"unconfined", {3, nullptr, "Landlock: none"}}}), ElementsAre("Landlock: none"));
  EXPECT_THAT(UnconfinedIn(nlohmann::json::array()), IsEmpty());
  EXPECT_THAT(UnconfinedIn(nullptr), IsEmpty());
}

}  // namespace
}  // namespace evo
