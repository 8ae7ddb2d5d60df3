#include "evaluator/device/cuda/counter_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "platform/installation.h"

namespace evo {
namespace {

using ::testing::Contains;
using ::testing::SizeIs;
using ::testing::StrEq;

class CounterMetricsTest : public ::testing::Test {
 protected:
  CuptiLibrary cupti_{CudaRoot().value_or("/usr/local/cuda")};
};

TEST_F(CounterMetricsTest, AHopperCountsEverythingInFewPasses) {
  const CounterMetrics metrics(cupti_, "GH100");
  EXPECT_THAT(metrics.names(), SizeIs(21));
  EXPECT_THAT(metrics.names(), Contains(StrEq("smsp__warps_issue_stalled_barrier.sum")));
  EXPECT_FALSE(metrics.config_image().empty());
  EXPECT_GE(metrics.passes(), 1u);
  EXPECT_LE(metrics.passes(), 4u);
}

TEST_F(CounterMetricsTest, OlderAndNewerGpusCountToo) {
  for (const char* chip : {"TU102", "GA100", "AD102", "GB202"}) {
    const CounterMetrics metrics(cupti_, chip);
    EXPECT_THAT(metrics.names(), SizeIs(21)) << chip;
    EXPECT_LE(metrics.passes(), 6u) << chip;
  }
}

TEST_F(CounterMetricsTest, SharesOfSeveralLaunchesAreAveragesByTimeAndSumsOfWarps) {
  const std::vector<const char*> names{"gpu__time_duration.sum", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                                       "smsp__warps_issue_stalled_barrier.sum", "smsp__warps_active.sum"};
  const HardwareCounters both =
      CounterMetrics::Together(names, std::vector<std::vector<double>>{{3000, 80, 10, 100}, {1000, 40, 290, 300}});
  EXPECT_DOUBLE_EQ(both.counted_ns, 4000);
  EXPECT_DOUBLE_EQ(both.dram, 0.7);
  EXPECT_DOUBLE_EQ(both.wait_barrier, 0.75);
  EXPECT_TRUE(std::isnan(both.tensor));
}

TEST_F(CounterMetricsTest, NothingIsSaidOfNoLaunch) {
  const HardwareCounters none = CounterMetrics::Together(std::vector<const char*>{"gpu__time_duration.sum"}, {});
  EXPECT_TRUE(std::isnan(none.counted_ns));
}

TEST_F(CounterMetricsTest, AnUnknownChipIsAnError) { EXPECT_THROW(CounterMetrics(cupti_, "no such chip"), Error); }

}  // namespace
}  // namespace evo
