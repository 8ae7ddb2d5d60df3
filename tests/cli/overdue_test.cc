#include "cli/overdue.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

using std::chrono::seconds;

TEST(Overdue, IsRequestedByAnInterrupt) {
  for (const auto limit : {std::optional<seconds>(), std::optional(seconds(3600))}) {
    std::stop_source interrupt;
    const Overdue overdue(limit, interrupt.get_token());
    EXPECT_FALSE(overdue.token().stop_requested());
    interrupt.request_stop();
    EXPECT_TRUE(overdue.token().stop_requested());
  }
}

TEST(Overdue, IsRequestedAfterTheTimeThatTheLimitLeaves) {
  const Overdue overdue(-TimeAfterLimit(seconds(1)), {});
  while (!overdue.token().stop_requested()) std::this_thread::yield();
}

TEST(Overdue, LeavesTimeForAGeneration) {
  EXPECT_EQ(TimeAfterLimit(seconds(30)), seconds(15));
  EXPECT_EQ(TimeAfterLimit(seconds(3600)), seconds(360));
}

}  // namespace
}  // namespace evo
