#include "evaluator/device/cuda/counter_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST_F(CounterMetricsTest, AnUnknownChipIsAnError) { EXPECT_THROW(CounterMetrics(cupti_, "no such chip"), Error); }

}  // namespace
}  // namespace evo
