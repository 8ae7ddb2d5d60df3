#include "core/counted_diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace evo {
namespace {

using ::testing::HasSubstr;

// 100 us of a program that is near nothing and waits for nothing.
HardwareCounters Idle() {
  HardwareCounters counters;
  counters.counted_ns = 100'000;
  for (double HardwareCounters::*field :
       {&HardwareCounters::dram, &HardwareCounters::l2, &HardwareCounters::l1, &HardwareCounters::tensor, &HardwareCounters::fma,
        &HardwareCounters::alu, &HardwareCounters::xu, &HardwareCounters::lsu, &HardwareCounters::issue,
        &HardwareCounters::active_warps, &HardwareCounters::bank_conflicts, &HardwareCounters::wait_memory,
        &HardwareCounters::wait_shared, &HardwareCounters::wait_barrier, &HardwareCounters::wait_math,
        &HardwareCounters::wait_queue, &HardwareCounters::wait_load_queue, &HardwareCounters::wait_fixed}) {
    counters.*field = 0;
  }
  return counters;
}

struct CountedRow {
  const char* name;
  std::function<void(HardwareCounters&)> change;
  Bottleneck bottleneck;
  const char* evidence;
};

class CountedDiagnosisTest : public ::testing::TestWithParam<CountedRow> {};

TEST_P(CountedDiagnosisTest, IsFound) {
  HardwareCounters counters = Idle();
  GetParam().change(counters);
  const Diagnosis diagnosis = DiagnoseCounted(counters);
  EXPECT_EQ(diagnosis.bottleneck, GetParam().bottleneck) << diagnosis.evidence;
  EXPECT_THAT(diagnosis.evidence, HasSubstr(GetParam().evidence));
}

const CountedRow kCountedRows[] = {
    {"Dram", [](auto& c) { c.dram = 0.87, c.wait_memory = 0.8; }, Bottleneck::kDram, "87% of the peak of DRAM"},
    {"L2", [](auto& c) { c.l2 = 0.7, c.dram = 0.1; }, Bottleneck::kL2, "70% of the peak of L2"},
    {"Tensor", [](auto& c) { c.tensor = 0.55; }, Bottleneck::kArithmetic, "55% of the peak of tensor cores"},
    {"Fma", [](auto& c) { c.fma = 0.8, c.issue = 0.9; }, Bottleneck::kArithmetic, "80% of the peak of the FMA pipe"},
    {"Issue", [](auto& c) { c.alu = 0.5, c.issue = 0.8; }, Bottleneck::kArithmetic, "80% of the peak of the issue slots"},
    {"L1", [](auto& c) { c.l1 = 0.65; }, Bottleneck::kL1, "65% of the peak of L1 and shared memory"},
    {"Banks", [](auto& c) { c.l1 = 0.4, c.bank_conflicts = 0.5; }, Bottleneck::kL1, "bank conflicts are 50%"},
    {"FewConflicts", [](auto& c) { c.l1 = 0.1, c.bank_conflicts = 0.9, c.wait_memory = 0.5; }, Bottleneck::kLatency,
     "50% for global memory"},
    {"Barrier", [](auto& c) { c.wait_barrier = 0.4, c.wait_memory = 0.2; }, Bottleneck::kBarrier,
     "warps wait 40% for barriers, 20% for global memory"},
    {"Latency", [](auto& c) { c.wait_barrier = 0.2, c.wait_memory = 0.3, c.wait_fixed = 0.01; }, Bottleneck::kLatency,
     "warps wait 30% for global memory, 20% for barriers"},
    {"Nothing", [](auto&) {}, Bottleneck::kUnknown, "near no peak"},
    {"NotCounted", [](auto& c) { c = HardwareCounters{}; }, Bottleneck::kNone, ""},
    {"OnlyTime", [](auto& c) { c = HardwareCounters{}, c.counted_ns = 5; }, Bottleneck::kUnknown, "near no peak"},
};
INSTANTIATE_TEST_SUITE_P(Programs, CountedDiagnosisTest, ::testing::ValuesIn(kCountedRows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(CountedDiagnosis, DescribesWhatIsNotZero) {
  HardwareCounters counters = Idle();
  EXPECT_EQ(DescribeRates(counters), "");
  EXPECT_EQ(DescribeWaits(counters), "");
  counters.dram = 0.43;
  counters.xu = 0.001;
  counters.issue = 0.2;
  counters.wait_queue = 0.06;
  EXPECT_EQ(DescribeRates(counters), "DRAM 43%, issue slots 20%");
  EXPECT_EQ(DescribeWaits(counters), "6% for the queue to shared memory");
}

TEST(CountersTellMoreThan, WhatIsGuessedFromTimesAndCode) {
  EXPECT_TRUE(CountersTellMoreThan(Bottleneck::kLatency));
  EXPECT_TRUE(CountersTellMoreThan(Bottleneck::kUnknown));
  EXPECT_FALSE(CountersTellMoreThan(Bottleneck::kTensorStarved));
  EXPECT_FALSE(CountersTellMoreThan(Bottleneck::kNone)) << "not looked at, as on the cpu device";
}

}  // namespace
}  // namespace evo
