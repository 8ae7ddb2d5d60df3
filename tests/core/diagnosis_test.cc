#include "core/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// About those of an H100.
DiagnosedDevice Device() {
  DiagnosedDevice device;
  device.machine.launch_ns = 800;
  device.machine.dram_bytes_per_s = 3e12;
  device.machine.l2_bytes_per_s = 6e12;
  device.machine.f32_per_s = 60e12;
  device.machine.tensor_per_s = 700e12;
  device.machine.l2_bytes = 50 << 20;
  device.arch = "sm_90a";
  device.multiprocessors = 132;
  device.cold = true;
  return device;
}

// 100 us of a kernel that is near nothing: 10% of DRAM, 1% of the FMA pipes, half of the warps.
struct Kernel {
  KernelFacts facts{.registers = 32, .static_shared_bytes = 0, .spill_bytes = 0, .local_bytes = 0, .occupancy = 0.5};
  CaseMeasurement measured;
  DiagnosedDevice device = Device();

  Kernel() {
    facts.mix = {.instructions = 200,
                 .loads_128 = 4,
                 .loads_64 = 0,
                 .loads_32 = 0,
                 .stores = 4,
                 .shared_loads = 0,
                 .shared_stores = 0,
                 .async_copies = 0,
                 .tensor_operations = 0,
                 .barriers = 0,
                 .conversions = 0,
                 .special_functions = 0,
                 .integer_operations = 50,
                 .float_operations = 50,
                 .branches = 3,
                 .local_accesses = 0};
    measured.median_ns = 100'000;
    measured.launches = "k<4> grid 1320x8x1 block 256x1x1 shared 0";
    measured.bytes = 30e6;
    measured.operations = 60e6;
  }
};

struct Row {
  const char* name;
  std::function<void(Kernel&)> change;
  Bottleneck bottleneck;
  const char* evidence;
};

const Row kRows[] = {
    {"near no rate", [](Kernel&) {}, Bottleneck::kLatency, "10% of the peak DRAM bandwidth and 1% of the peak of FMA pipes"},
    {"narrow loads", [](Kernel& k) { k.facts.mix.loads_128 = 0, k.facts.mix.loads_32 = 4; }, Bottleneck::kLatency,
     "all loads are of 32 bits or fewer"},
    {"few warps", [](Kernel& k) { k.facts.occupancy = 0.125, k.facts.registers = 255; }, Bottleneck::kLatency,
     "occupancy 0.12, limited by registers; 10% of"},
    {"at the memory's rate", [](Kernel& k) { k.measured.bytes = 261e6; }, Bottleneck::kDram, "87% of the peak DRAM bandwidth"},
    {"faster than a copy", [](Kernel& k) { k.measured.bytes = 321e6; }, Bottleneck::kDram,
     "107% of the DRAM bandwidth of a copy"},
    {"all in L2", [](Kernel& k) { k.device.cold = false, k.measured.median_ns = 8000; }, Bottleneck::kL2,
     "62% of the peak L2 bandwidth"},
    {"hot, and more than L2 holds", [](Kernel& k) { k.device.cold = false, k.measured.bytes = 261e6; }, Bottleneck::kDram,
     "87% of the peak DRAM bandwidth"},
    {"at the arithmetic's rate", [](Kernel& k) { k.measured.operations = 4.2e9; }, Bottleneck::kArithmetic,
     "70% of the peak of FMA pipes"},
    {"a product of floats in registers", [](Kernel& k) { k.measured.operations = 3.5e9; }, Bottleneck::kArithmetic,
     "58% of the peak of FMA pipes"},
    {"at the tensor cores' rate", [](Kernel& k) { k.measured.operations = 49e9, k.facts.mix.tensor_operations = 16; },
     Bottleneck::kArithmetic, "70% of the peak of tensor cores"},
    {"memory before arithmetic", [](Kernel& k) { k.measured.bytes = 261e6, k.measured.operations = 4.2e9; }, Bottleneck::kDram,
     "87%"},
    {"a contraction of halves on FMA pipes", [](Kernel& k) { k.measured.operations = 4.2e9, k.device.half = true; },
     Bottleneck::kTensorStarved, "a contraction of 16-bit numbers, and no tensor instruction among 200; 10% of the peak DRAM"},
    {"a contraction of floats", [](Kernel& k) { k.measured.operations = 2e9; }, Bottleneck::kLatency, "33% of the peak of FMA"},
    {"halves element by element", [](Kernel& k) { k.device.half = true; }, Bottleneck::kLatency, "10% of"},
    {"halves, and the code is not known", [](Kernel& k) { k.measured.operations = 2e9, k.device.half = true, k.facts.mix = {}; },
     Bottleneck::kLatency, "33% of the peak of FMA"},
    {"spills", [](Kernel& k) { k.facts.spill_bytes = 128, k.facts.mix.local_accesses = 20; }, Bottleneck::kSpills,
     "128 bytes of spills a thread, 10% of the instructions access local memory"},
    {"one spill", [](Kernel& k) { k.facts.spill_bytes = 8, k.facts.mix.local_accesses = 2; }, Bottleneck::kLatency, ""},
    {"spills, and the code is not known", [](Kernel& k) { k.facts.spill_bytes = 128, k.facts.mix = {}; }, Bottleneck::kSpills,
     "128 bytes of spills a thread"},
    {"an array that is no registers", [](Kernel& k) { k.facts.mix.local_accesses = 20; }, Bottleneck::kLatency,
     "10% of the instructions access local memory"},
    {"fewer blocks than multiprocessors",
     [](Kernel& k) { k.measured.launches = "memset O; k grid 64x1x1 block 128x1x1 shared 0"; }, Bottleneck::kTail,
     "64 blocks for 132 multiprocessors"},
    {"a contraction of halves that leaves most multiprocessors idle",
     [](Kernel& k) {
       k.measured.operations = 4.2e9, k.device.half = true;
       k.measured.launches = "k grid 64x1x1 block 64x1x1 shared 0";
     },
     Bottleneck::kTail, "64 blocks for 132 multiprocessors"},
    {"nearly a block for each multiprocessor", [](Kernel& k) { k.measured.launches = "k grid 128x1x1 block 256x1x1 shared 0"; },
     Bottleneck::kLatency, ""},
    {"one block more than a wave", [](Kernel& k) { k.measured.launches = "k grid 1057x1x1 block 256x1x1 shared 0"; },
     Bottleneck::kTail, "1.00 waves of blocks: the last leaves 50%"},
    {"just a wave", [](Kernel& k) { k.measured.launches = "k grid 1056x1x1 block 256x1x1 shared 0"; }, Bottleneck::kLatency, ""},
    {"a block for each multiprocessor", [](Kernel& k) { k.measured.launches = "k grid 132x1x1 block 256x1x1 shared 0"; },
     Bottleneck::kLatency, ""},
    {"barriers", [](Kernel& k) { k.facts.mix.barriers = 8; }, Bottleneck::kBarrier, "8 of 200 instructions are barriers"},
    {"barriers of one warp",
     [](Kernel& k) { k.facts.mix.barriers = 8, k.measured.launches = "k grid 1056x16x1 block 32x1x1 shared 0"; },
     Bottleneck::kLatency, ""},
    {"as short as a launch", [](Kernel& k) { k.measured.median_ns = 1500, k.measured.bytes = 1e3; }, Bottleneck::kLaunch,
     "1.50 us, where a launch of an empty kernel takes 0.80 us"},
    {"as short as its launches",
     [](Kernel& k) {
       k.measured.median_ns = 3000;
       k.measured.launches = "a grid 1x1x1 block 32x1x1 shared 0; b grid 1x1x1 block 32x1x1 shared 0";
     },
     Bottleneck::kLaunch, "3.00 us, where 2 launches of an empty kernel take 1.60 us"},
    {"nothing declared", [](Kernel& k) { k.measured.bytes = k.measured.operations = kNoValue; }, Bottleneck::kUnknown,
     "declares neither"},
    {"a machine that was not measured", [](Kernel& k) { k.device.machine = {}; }, Bottleneck::kUnknown, "were not measured"},
    {"not timed", [](Kernel& k) { k.measured.median_ns = kNoValue; }, Bottleneck::kNone, ""},
};

TEST(Diagnosis, FindsTheBottleneckAndSaysWhy) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    Kernel kernel;
    row.change(kernel);
    const Diagnosis found = Diagnose(kernel.facts, kernel.measured, kernel.device);
    EXPECT_EQ(ToString(found.bottleneck), ToString(row.bottleneck)) << found.evidence;
    EXPECT_THAT(found.evidence, HasSubstr(row.evidence));
  }
}

Evaluation EvaluationOf(const Kernel& kernel) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.device = "cuda";
  evaluation.facts = kernel.facts;
  evaluation.cases = {kernel.measured, kernel.measured};
  evaluation.cases[0].bytes = 261e6;
  evaluation.cases[1].median_ns *= 2;
  return evaluation;
}

TEST(Diagnosis, IsThatOfTheWeightiestCaseAndOfTheseTheLongest) {
  Evaluation evaluation = EvaluationOf(Kernel());
  EXPECT_EQ(Diagnose(evaluation, Device()).bottleneck, Bottleneck::kLatency);
  evaluation.cases[0].weight = 2;
  EXPECT_EQ(Diagnose(evaluation, Device()).bottleneck, Bottleneck::kDram);
}

TEST(Diagnosis, NothingIsSaidOfOtherDevicesAndOfProgramsThatAreNotOk) {
  Evaluation evaluation = EvaluationOf(Kernel());
  evaluation.device = "cpu";
  EXPECT_EQ(Diagnose(evaluation, Device()).bottleneck, Bottleneck::kNone);
  EXPECT_THAT(DescribeOccupancy(evaluation, "sm_90a"), IsEmpty());
  evaluation = EvaluationOf(Kernel());
  evaluation.outcome = Outcome::kWrongResult;
  EXPECT_EQ(Diagnose(evaluation, Device()).bottleneck, Bottleneck::kNone);
  evaluation = EvaluationOf(Kernel());
  evaluation.cases.clear();
  EXPECT_EQ(Diagnose(evaluation, Device()).bottleneck, Bottleneck::kNone);
}

TEST(Diagnosis, SaysWhatLimitsTheOccupancy) {
  Evaluation evaluation = EvaluationOf(Kernel());
  EXPECT_EQ(DescribeOccupancy(evaluation, "sm_90a"), "64 of 64 warps a multiprocessor, which is all");
  evaluation.facts.registers = 128;
  EXPECT_EQ(DescribeOccupancy(evaluation, "sm_90a"), "16 of 64 warps a multiprocessor, limited by registers");
  EXPECT_THAT(DescribeOccupancy(evaluation, "sm_999"), IsEmpty());
}

TEST(Bottleneck, NamesAreReadBackAndWordsDiffer) {
  for (const Bottleneck bottleneck : kBottlenecks) {
    EXPECT_EQ(ParseBottleneck(ToString(bottleneck)), bottleneck);
    EXPECT_NE(Describe(bottleneck), "-");
  }
  EXPECT_EQ(ToString(Bottleneck::kNone), "");
  EXPECT_EQ(ParseBottleneck("gremlins"), std::nullopt);
}

}  // namespace
}  // namespace evo
