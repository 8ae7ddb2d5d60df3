#include "cli/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> LinesOf(const ChampionCheck& check, bool all) {
  std::vector<std::string> lines;
  for (const auto& [heading, text] : DescribeEvidence(check, all)) lines.push_back(heading + "|" + text);
  return lines;
}

TEST(Evidence, SaysWhatTheCountersSayOfBothPrograms) {
  ChampionCheck check;
  EXPECT_THAT(LinesOf(check, false), IsEmpty());
  HardwareCounters counters;
  counters.program = kCountedCandidate;
  counters.counted_ns = 1000;
  counters.dram = 0.9;
  counters.issue = 0.2;
  check.counters.push_back(counters);
  counters.program = kCountedBaseline;
  counters.dram = 0.1;
  counters.wait_memory = 0.7;
  check.counters.push_back(counters);
  EXPECT_THAT(LinesOf(check, false), ElementsAre("counters|DRAM bound: 90% of the peak of DRAM",
                                                 "|the baseline latency bound: warps wait 70% for global memory"));
  EXPECT_THAT(LinesOf(check, true),
              ElementsAre("counters|DRAM bound: 90% of the peak of DRAM", "|of the peak: DRAM 90%, issue slots 20%",
                          "|the baseline latency bound: warps wait 70% for global memory",
                          "|of the peak: DRAM 10%, issue slots 20%", "|warps wait 70% for global memory"));
}

TEST(Evidence, SaysWhyNothingWasCounted) {
  ChampionCheck check;
  check.not_counted = "users may not count";
  EXPECT_THAT(LinesOf(check, false), ElementsAre("counters|none: users may not count"));
}

TEST(Evidence, NamesTheLineAtWhichWarpsWaitMost) {
  ChampionCheck check;
  check.stalls = {{57, 0.314, "global memory", "acc += a[i];"}, {60, 0.1, "barriers", "__syncthreads();"}};
  EXPECT_THAT(LinesOf(check, false),
              ElementsAre("stalls|31% of the warps' time at line 57, mostly for global memory: acc += a[i];"));
  EXPECT_EQ(LinesOf(check, true).size(), 2u);
  check.counters.emplace_back().program = kCountedCandidate;
  check.not_counted = "no samples here";
  EXPECT_EQ(LinesOf(check, false).back(), "counters|not all: no samples here");
}

}  // namespace
}  // namespace evo
