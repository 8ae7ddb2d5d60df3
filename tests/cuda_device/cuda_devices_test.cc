// Runs with and without a GPU, driver or libcuda: what is said of the machine must be consistent.
#include "evaluator/device/cuda/cuda_devices.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "evaluator/device/cuda/cuda_device.h"

namespace evo {
namespace {

class NoCompiler : public Compiler {
 public:
  CompileResult Compile(const CompilerInput&) override { return {Outcome::kCompileError, "no compiler here", {}, {}, {}}; }
};

TEST(CudaDevices, DevicesOrAReason) {
  const CudaDevices found = ListCudaDevices();
  EXPECT_EQ(found.devices.empty(), !found.why_none.empty());
  if (found.devices.empty()) {
    EXPECT_NE(found.why_none.find("--device cpu"), std::string::npos) << found.why_none;
    EXPECT_EQ(found.why_none.find('\n'), std::string::npos);
  }
  for (const CudaDeviceSummary& device : found.devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_EQ(device.arch.substr(0, 3), "sm_");
    EXPECT_FALSE(found.driver.empty());
  }
}

TEST(CudaDevices, OnlyHopperGetsItsOwnInstructions) {
  EXPECT_EQ(ArchName(9, 0), "sm_90a");
  EXPECT_EQ(ArchName(8, 9), "sm_89");
  EXPECT_EQ(ArchName(8, 0), "sm_80");
}

TEST(CudaDevices, AnAbsentDeviceIsAnError) {
  NoCompiler compiler;
  EXPECT_THROW(CudaDevice({999, "/nowhere"}, compiler), Error);
  EXPECT_THROW(CudaDevice({-1, "/nowhere"}, compiler), Error);
}

}  // namespace
}  // namespace evo
