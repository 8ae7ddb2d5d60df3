#include "core/part_times.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

using std::chrono::milliseconds;

TEST(PartTimes, SumsThePartsInTheOrderInWhichTheyBegan) {
  const PartTimes::Clock::time_point start{};
  PartTimes times;
  times.Begin("inputs", start);
  times.Begin("search", start + milliseconds(2100));
  times.Begin("inputs", start + milliseconds(4100));
  EXPECT_EQ(times.Text(start + milliseconds(4500)), "inputs 2.5 s, search 2.0 s");
  EXPECT_EQ(times.Text(start + milliseconds(9000)), "inputs 2.5 s, search 2.0 s") << "the last part has ended";
}

TEST(PartTimes, LeavesOutWhatTookNoTime) {
  const PartTimes::Clock::time_point start{};
  PartTimes times;
  EXPECT_EQ(times.Text(start), "");
  times.Begin("tools", start);
  EXPECT_EQ(times.Text(start + milliseconds(49)), "");
}

}  // namespace
}  // namespace evo
