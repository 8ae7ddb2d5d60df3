#include "core/machine.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evo {
namespace {

MachineState Machine() {
  MachineState machine;
  machine.launch_ns = 800;
  machine.l2_bytes_per_s = 5e12;
  machine.f32_per_s = 60e12;
  machine.tensor_per_s = 900e12;
  return machine;
}

TEST(Floor, Row19NothingIsFasterThanAnEmptyKernel) {
  EXPECT_DOUBLE_EQ(FloorNs(Machine(), kNoValue, kNoValue), 600);
  EXPECT_DOUBLE_EQ(FloorNs(Machine(), 1000, 1000), 600);
}

TEST(Floor, Row19BytesComeThroughL2) { EXPECT_DOUBLE_EQ(FloorNs(Machine(), 50e6, kNoValue), 7500); }

TEST(Floor, Row19ArithmeticIsDoneAtTheHighestRateAtMost) {
  EXPECT_DOUBLE_EQ(FloorNs(Machine(), kNoValue, 9e9), 7500);
  MachineState without = Machine();
  without.tensor_per_s = kNoValue;
  EXPECT_DOUBLE_EQ(FloorNs(without, kNoValue, 6e8), 7500);
}

TEST(Floor, IsUnknownForAnUnmeasuredMachine) { EXPECT_TRUE(std::isnan(FloorNs(MachineState{}, 1e9, 1e12))); }

}  // namespace
}  // namespace evo
