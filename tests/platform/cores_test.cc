#include "platform/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace evo {
namespace {

TEST(AvailableCores, CountsThoseThatTheProcessMayRunOn) {
  cpu_set_t all;
  CPU_ZERO(&all);
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  EXPECT_GE(AvailableCores(), 1);
  EXPECT_LE(AvailableCores(), CPU_COUNT(&all));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AvailableCores(), 1);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(all), &all), 0);
}

}  // namespace
}  // namespace evo
