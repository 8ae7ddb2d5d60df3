// Needs a GPU. Elsewhere the program starts and every test fails with what is missing.
#include "evaluator/device/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include "tests/cuda_device/cuda_device_bench.h"

namespace evo {
namespace {

TEST_F(CudaDeviceTest, SaysWhatItIs) {
  const DeviceInfo& info = device_->info();
  std::printf("%s %s driver %s: tick %.0f ns, L2 %zu, shared %zu / %zu, %d multiprocessors\n", info.name.c_str(),
              info.arch.c_str(), info.driver.c_str(), info.tick_ns, info.l2_bytes, info.shared_bytes_per_block,
              info.shared_bytes_per_block_optin, info.multiprocessors);
  EXPECT_EQ(info.kind, "cuda");
  EXPECT_GE(info.tick_ns, 1);
  EXPECT_LE(info.tick_ns, 1100);
  EXPECT_EQ(info.shared_bytes_per_block, 48u * 1024);
  EXPECT_GE(info.shared_bytes_per_block_optin, info.shared_bytes_per_block);
  EXPECT_GT(info.l2_bytes, 0u);
}

TEST_F(CudaDeviceTest, AddsVectors) {
  EXPECT_EQ(a_ % 256, 0u);
  const DeviceStatus status = Run({Add()});
  ASSERT_TRUE(status.ok()) << status.message;
  const std::vector<float> sums = Read(c_, kCount);
  for (const int i : {0, 1, 1000, kCount - 1}) EXPECT_EQ(sums[static_cast<std::size_t>(i)], 2.0f * static_cast<float>(i));
  const KernelFacts facts = program_->facts();
  EXPECT_GT(facts.registers, 0);
  EXPECT_EQ(facts.dynamic_shared_bytes, 0);
  EXPECT_GT(facts.occupancy, 0.5);
  EXPECT_LE(facts.occupancy, 1.0);
}

TEST_F(CudaDeviceTest, AHundredKilobytesOfDynamicSharedMemory) {
  constexpr int kFloats = 25 * 1024;
  const DeviceLaunch launch{
      .kernel = kReverse, .block = {256, 1, 1}, .shared_bytes = kFloats * 4, .arguments = {a_, Int(kFloats)}};
  const DeviceStatus status = Run({launch});
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(Read(a_, 1)[0], kFloats - 1.0f);
  EXPECT_EQ(program_->facts().dynamic_shared_bytes, kFloats * 4);
}

TEST_F(CudaDeviceTest, CodeInSeveralPlacementsIsLaunchedInterleaved) {
  // Each place has variables of its own, and so a count of its own.
  constexpr char kCounting[] = R"(
__device__ float launches = 0.0f;
extern "C" __global__ void count() { ++launches; }
extern "C" __global__ void tell(float* seen) { *seen = launches; }
)";
  const CompileResult compiled = compiler_->Compile({kCounting, {"count", "tell"}, device_->info().arch});
  ASSERT_EQ(compiled.outcome, Outcome::kOk) << compiled.message;
  LoadResult loaded = device_->Load(compiled.program, 3);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message;
  ASSERT_EQ(loaded.program->State().size(), 3U) << "all of them are watched";
  std::vector<float> seen;
  for (int i = 0; i < 7; ++i) {
    const DeviceLaunch count{.kernel = 0, .grid = {1, 1, 1}, .block = {1, 1, 1}, .arguments = {}};
    const DeviceLaunch tell{.kernel = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}, .arguments = {c_}};
    const DeviceStatus status = device_->Run(*loaded.program, {count, count, tell}, 0);
    ASSERT_TRUE(status.ok()) << status.message;
    seen.push_back(Read(c_, 1).front());
  }
  EXPECT_EQ(seen, (std::vector<float>{2, 2, 2, 4, 4, 4, 6})) << "all launches of a sequence in one place";
}

TEST_F(CudaDeviceTest, ArgumentsAreCheckedBeforeTheLaunch) {
  DeviceLaunch fewer = Add();
  fewer.arguments.pop_back();
  const DeviceStatus count = Run({fewer});
  EXPECT_EQ(count.outcome, Outcome::kLaunchError);
  EXPECT_EQ(count.message, "add: launched with 3 arguments, takes 4");
  DeviceLaunch wider = Add();
  wider.arguments[3] = ScalarUse{Dtype::kI64, Number::Integer(kCount)};
  const DeviceStatus size = Run({wider});
  EXPECT_EQ(size.outcome, Outcome::kLaunchError);
  EXPECT_EQ(size.message, "add: argument 4 has 8 bytes, the kernel takes 4");
  EXPECT_FALSE(size.sticky);
  DeviceLaunch huge = Add();
  huge.arguments[3] = Int(1LL << 40);
  EXPECT_EQ(Run({huge}).outcome, Outcome::kLaunchError);
  EXPECT_TRUE(Run({Add()}).ok());
}

TEST_F(CudaDeviceTest, LimitsAreCheckedBeforeTheLaunch) {
  DeviceLaunch threads = Add();
  threads.block = {2048, 1, 1};
  EXPECT_EQ(Run({threads}).outcome, Outcome::kResourceLimit);
  DeviceLaunch bounds{.kernel = kNarrow, .block = {256, 1, 1}, .arguments = {a_}};
  EXPECT_EQ(Run({bounds}).outcome, Outcome::kResourceLimit);
  DeviceLaunch shared = Add();
  shared.shared_bytes = device_->info().shared_bytes_per_block_optin + 1;
  const DeviceStatus status = Run({shared});
  EXPECT_EQ(status.outcome, Outcome::kResourceLimit);
  EXPECT_NE(status.message.find("bytes of shared memory"), std::string::npos) << status.message;
  DeviceLaunch grid = Add();
  grid.grid = {1, 70000, 1};
  EXPECT_EQ(Run({grid}).outcome, Outcome::kResourceLimit);
  DeviceLaunch empty = Add();
  empty.grid = {0, 1, 1};
  EXPECT_EQ(Run({empty}).outcome, Outcome::kLaunchError);
  DeviceLaunch cooperative = Add();
  cooperative.cooperative = true;
  cooperative.grid = {1 << 20, 1, 1};
  const DeviceStatus too_large = Run({cooperative});
  EXPECT_EQ(too_large.outcome, Outcome::kResourceLimit) << too_large.message;
  EXPECT_FALSE(too_large.sticky);
  EXPECT_EQ(device_->memory().Allocate(std::size_t{1} << 50), 0u);
  EXPECT_TRUE(Run({Add()}).ok());
}

TEST_F(CudaDeviceTest, TensorMapsBringBoxesAndZerosBeyondTheEnd) {
  if (device_->info().arch < "sm_90") GTEST_SKIP() << "tensor maps need compute capability 9.0";
  const DeviceTensorMap map{a_, {"m", "a", Dtype::kF32, {16, 100}, {8, 4}, 0}};
  DeviceLaunch launch{.kernel = kLoadBox, .grid = {1, 1, 1}, .block = {32, 1, 1}, .arguments = {map, c_}};
  const DeviceStatus status = Run({launch});
  ASSERT_TRUE(status.ok()) << status.message;
  std::vector<float> expected(32, 0.0f);
  for (int i = 0; i < 16; ++i) expected[static_cast<std::size_t>(i)] = static_cast<float>((98 + i / 8) * 16 + 8 + i % 8);
  EXPECT_EQ(Read(c_, 32), expected);
  launch.arguments = {c_, c_};
  EXPECT_EQ(Run({launch}).outcome, Outcome::kLaunchError) << "an address is no map";
  DeviceTensorMap odd = map;
  odd.use.box = {3, 4};
  launch.arguments = {odd, c_};
  EXPECT_EQ(Run({launch}).outcome, Outcome::kLaunchError) << "a box row of 12 bytes";
}

TEST_F(CudaDeviceTest, ClustersAndCooperativeLaunches) {
  if (device_->info().arch < "sm_90") GTEST_SKIP() << "clusters need compute capability 9.0";
  ASSERT_TRUE(device_->memory().Fill({c_, 4, 0}).ok());
  const DeviceLaunch launch{
      .kernel = kClusterSize, .grid = {8, 1, 1}, .block = {32, 1, 1}, .cluster = {4, 1, 1}, .arguments = {c_}};
  const DeviceStatus status = Run({launch});
  ASSERT_TRUE(status.ok()) << status.message;
  std::vector<std::uint32_t> sum(1);
  ASSERT_TRUE(device_->memory().Read(std::as_writable_bytes(std::span(sum)), c_).ok());
  EXPECT_EQ(sum[0], 8u * 4);
  DeviceLaunch uneven = launch;
  uneven.grid = {9, 1, 1};
  EXPECT_EQ(Run({uneven}).outcome, Outcome::kLaunchError);
  DeviceLaunch cooperative = Add();
  cooperative.cooperative = true;
  cooperative.grid = {64, 1, 1};
  const DeviceStatus together = Run({cooperative});
  EXPECT_TRUE(together.ok()) << together.message;
}

TEST_F(CudaDeviceTest, AnImageThatIsNoneIsRefused) {
  CompiledProgram rubbish;
  rubbish.image = std::string(4096, 'x');
  rubbish.kernels = {{"k", "k"}};
  const LoadResult loaded = device_->Load(rubbish, 1);
  EXPECT_FALSE(loaded.status.ok());
  EXPECT_FALSE(loaded.status.sticky);
  EXPECT_EQ(loaded.program, nullptr);
  EXPECT_TRUE(Run({Add()}).ok());
}

}  // namespace
}  // namespace evo
