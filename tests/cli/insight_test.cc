#include "cli/insight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Evaluation Ok() {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.device = "cuda";
  evaluation.cases.resize(1);
  evaluation.cases[0].median_ns = 10'000;
  evaluation.cases[0].bytes = 26.1e6;
  evaluation.cases[0].launches = "k grid 1056x1x1 block 256x1x1 shared 0";
  return evaluation;
}

TEST(Insight, NamesTheBottleneckWithItsEvidence) {
  Evaluation evaluation = Ok();
  EXPECT_EQ(DescribeBottleneck(evaluation), "not recorded");
  evaluation.bottleneck = Bottleneck::kDram;
  evaluation.evidence = "87% of the peak DRAM bandwidth";
  EXPECT_EQ(DescribeBottleneck(evaluation), "DRAM bound: 87% of the peak DRAM bandwidth");
  evaluation.device = "cpu";
  EXPECT_THAT(DescribeBottleneck(evaluation), HasSubstr("no machine code"));
  evaluation.outcome = Outcome::kCrash;
  EXPECT_THAT(DescribeBottleneck(evaluation), IsEmpty());
}

TEST(Insight, NamesTheInstructionsThatOccur) {
  InstructionMix mix;
  EXPECT_THAT(DescribeMix(mix), IsEmpty());
  mix.instructions = 210;
  EXPECT_EQ(DescribeMix(mix), "210 instructions");
  mix.loads_128 = 4;
  mix.loads_32 = 0;
  mix.barriers = 8;
  EXPECT_EQ(DescribeMix(mix), "210 instructions: 4 128-bit loads, 8 barriers");
}

TEST(Insight, WhatAnOlderVersionStoredIsLookedAtNow) {
  MachineState machine;
  machine.dram_bytes_per_s = 3e12;
  RunRecord run;
  run.arch = "sm_90a";
  run.l2 = "cold";
  Evaluation evaluation = Ok();
  DiagnoseOlder(evaluation, run, {});
  EXPECT_EQ(evaluation.bottleneck, Bottleneck::kNone) << "the machine was not measured";
  DiagnoseOlder(evaluation, run, {machine});
  EXPECT_EQ(DescribeBottleneck(evaluation), "DRAM bound: 87% of the peak DRAM bandwidth");
  evaluation.cases[0].bytes = 1;
  DiagnoseOlder(evaluation, run, {machine});
  EXPECT_EQ(evaluation.bottleneck, Bottleneck::kDram) << "what is known stays";
}

}  // namespace
}  // namespace evo
