// Needs a GPU. Elsewhere the program starts and every test fails with what is missing.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <span>

#include "tests/cuda_device/cuda_device_bench.h"

namespace evo {
namespace {

// Each test runs in a process of its own that opens its own device: the CUDA context does not survive.
class CudaDeviceDeathTest : public CudaDeviceTest {
 protected:
  static void SetUpTestSuite() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    CudaDeviceTest::SetUpTestSuite();
  }

  [[noreturn]] void ExitWith(const DeviceStatus& status, const DeviceStatus& next) {
    std::fprintf(stderr, "%s sticky=%d; next: %s sticky=%d [%s]\n", std::string(ToString(status.outcome)).c_str(),
                 status.sticky ? 1 : 0, std::string(ToString(next.outcome)).c_str(), next.sticky ? 1 : 0, status.message.c_str());
    std::_Exit(0);
  }
  void CrashByAddress() {
    const DeviceStatus status = Run({DeviceLaunch{.kernel = kPoke, .arguments = {Address{0x10}}}});
    ExitWith(status, Run({Add()}));
  }
  void CrashWhileInspected() {
    const DeviceStatus started = device_->Start(*program_, {DeviceLaunch{.kernel = kPoke, .arguments = {Address{0x10}}}}, 0);
    if (!started.ok()) ExitWith(started, {});
    const Inspection look{Inspection::Kind::kHash, a_, 0, 16};
    ExitWith(device_->Inspect(std::span(&look, 1)).status, Run({Add()}));
  }
  void CrashByTrap() {
    const DeviceStatus status = Run({DeviceLaunch{.kernel = kPrune}});
    ExitWith(status, Run({Add()}));
  }
  void CrashWhileTimed() {
    TimedRun run;
    run.sequence = {DeviceLaunch{.kernel = kPoke, .arguments = {Address{0x10}}}};
    const DeviceStatus status = Time(run, 3).status;  // first: a call's arguments are evaluated in any order
    ExitWith(status, Run({Add()}));
  }
};

TEST_F(CudaDeviceDeathTest, AnIllegalAddressIsAStickyCrash) {
  EXPECT_EXIT(CrashByAddress(), ::testing::ExitedWithCode(0), "crash sticky=1; next: crash sticky=1");
}

TEST_F(CudaDeviceDeathTest, ATrapIsAStickyCrash) {
  EXPECT_EXIT(CrashByTrap(), ::testing::ExitedWithCode(0), "crash sticky=1; next: crash sticky=1");
}

TEST_F(CudaDeviceDeathTest, ACrashAfterAStartIsReportedByTheNextInspection) {
  EXPECT_EXIT(CrashWhileInspected(), ::testing::ExitedWithCode(0), "crash sticky=1; next: crash sticky=1");
}

TEST_F(CudaDeviceDeathTest, ACrashWhileTimedIsReported) {
  EXPECT_EXIT(CrashWhileTimed(), ::testing::ExitedWithCode(0), "crash sticky=1; next: crash sticky=1");
}

}  // namespace
}  // namespace evo
