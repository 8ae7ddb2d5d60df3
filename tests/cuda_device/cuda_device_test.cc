// On a machine with a GPU. Elsewhere the program starts and every test fails with what is missing.
#include "evaluator/device/cuda/cuda_device.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>

#include "core/error.h"
#include "core/half.h"
#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/timer/machine_check.h"
#include "platform/installation.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr char kKernels[] = R"(
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void reverse(float* x, int n) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = s[n - 1 - i];
}
extern "C" __global__ void scale(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
extern "C" __global__ void work(float* x, int steps) {
  float v = x[threadIdx.x];
  for (int i = 0; i < steps; ++i) v = v * 1.0001f + 0.5f;
  x[threadIdx.x] = v;
}
extern "C" __global__ void poke(unsigned long long address) { *reinterpret_cast<volatile int*>(address) = 1; }
extern "C" __global__ void give_up() { asm volatile("trap;"); }
extern "C" __global__ void cluster_size(unsigned* x) {
  unsigned size = 1;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#endif
  if (threadIdx.x == 0) atomicAdd(x, size);
}
struct alignas(128) TensorMap { unsigned long long opaque[16]; };
// One box of 8 columns and 4 rows, from column 8 and row 98 on.
extern "C" __global__ void load_box(const __grid_constant__ TensorMap map, float* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) float box[32];
  __shared__ unsigned long long barrier;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(box));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {8, 98}], [%2];" ::"r"(to), "l"(&map), "r"(at) : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(at) : "memory");
  }
  out[threadIdx.x] = box[threadIdx.x];
#endif
}
extern "C" __global__ void __launch_bounds__(128) narrow(float* x) { x[threadIdx.x] += 1; }
)";

enum Kernel : std::size_t { kAdd, kReverse, kScale, kWork, kPoke, kPrune, kClusterSize, kLoadBox, kNarrow };
const std::vector<std::string> kNames = {"add",     "reverse",      "scale",    "work",  "poke",
                                         "give_up", "cluster_size", "load_box", "narrow"};

constexpr int kCount = 1 << 18;

ScalarUse Int(std::int64_t value) { return {Dtype::kI32, Number::Integer(value)}; }
ScalarUse Real(double value) { return {Dtype::kF32, Number::Real(value)}; }

class CudaDeviceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    try {
      const fs::path root = CudaRoot().value_or("/usr/local/cuda");
      compiler_ = std::make_unique<NvrtcCompiler>(
          NvrtcPaths{root, ShareDirectory() / "nvrtc", fs::temp_directory_path() / fmt::format("evo_cuda_test_{}", ::getpid())});
      device_ = std::make_unique<CudaDevice>(CudaDeviceOptions{0, root}, *compiler_);
    } catch (const Error& error) {
      missing_ = error.what();
    }
  }
  static void TearDownTestSuite() {
    device_.reset();
    compiler_.reset();
  }

  void SetUp() override {
    ASSERT_EQ(missing_, "");
    const CompileResult compiled = compiler_->Compile({kKernels, kNames, device_->info().arch});
    ASSERT_EQ(compiled.outcome, Outcome::kOk) << compiled.message << compiled.log;
    LoadResult loaded = device_->Load(compiled.program, 1);
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message;
    program_ = std::move(loaded.program);
    for (Address* buffer : {&a_, &b_, &c_}) {
      *buffer = device_->memory().Allocate(kCount * sizeof(float));
      ASSERT_NE(*buffer, 0u);
    }
    std::vector<float> values(kCount);
    std::iota(values.begin(), values.end(), 0.0f);
    Write(a_, values);
    Write(b_, values);
    Write(c_, std::vector<float>(kCount, -1.0f));
  }
  void TearDown() override {
    if (device_ == nullptr) return;
    program_.reset();
    for (const Address buffer : {a_, b_, c_}) device_->memory().Free(buffer);
  }

  static void Write(Address to, const std::vector<float>& values) {
    const DeviceStatus status = device_->memory().Write(to, std::as_bytes(std::span(values)));
    ASSERT_TRUE(status.ok()) << status.message;
  }
  static std::vector<float> Read(Address from, std::size_t count) {
    std::vector<float> values(count);
    const DeviceStatus status = device_->memory().Read(std::as_writable_bytes(std::span(values)), from);
    EXPECT_TRUE(status.ok()) << status.message;
    return values;
  }

  DeviceStatus Run(const Sequence& sequence) { return device_->Run(*program_, sequence, 0); }

  DeviceLaunch Add() const {
    DeviceLaunch launch;
    launch.kernel = kAdd;
    launch.grid = {kCount / 256, 1, 1};
    launch.block = {256, 1, 1};
    launch.arguments = {a_, b_, c_, Int(kCount)};
    return launch;
  }
  DeviceLaunch Scale(double factor) const {
    return {.kernel = kScale, .grid = {kCount / 256, 1, 1}, .block = {256, 1, 1}, .arguments = {c_, Real(factor), Int(kCount)}};
  }
  DeviceLaunch Work(int steps) const { return {.kernel = kWork, .block = {32, 1, 1}, .arguments = {a_, Int(steps)}}; }

  TimedRuns Time(const TimedRun& run, std::size_t times) { return device_->Time(*program_, std::vector<TimedRun>(times, run)); }

  static double MedianNs(const TimedRuns& timed) {
    std::vector<double> spans;
    for (const SequenceTime& time : timed.times) spans.push_back(static_cast<double>(time.span_ticks) * device_->info().tick_ns);
    std::sort(spans.begin(), spans.end());
    return spans.empty() ? -1 : spans[spans.size() / 2];
  }

  static std::unique_ptr<NvrtcCompiler> compiler_;
  static std::unique_ptr<CudaDevice> device_;
  static std::string missing_;
  std::unique_ptr<LoadedProgram> program_;
  Address a_ = 0;
  Address b_ = 0;
  Address c_ = 0;
};

std::unique_ptr<NvrtcCompiler> CudaDeviceTest::compiler_;
std::unique_ptr<CudaDevice> CudaDeviceTest::device_;
std::string CudaDeviceTest::missing_;

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

TEST_F(CudaDeviceTest, TimesASequenceWithAMemset) {
  TimedRun run;
  run.preparation.restore = {{a_, b_, kCount * sizeof(float)}};
  run.preparation.poison = {{c_, kCount * sizeof(float), 0xff}};
  run.preparation.touch = {{a_, kCount * sizeof(float)}, {b_, kCount * sizeof(float)}};
  run.sequence = {DeviceFill{c_, kCount * sizeof(float), 0}, Add(), Scale(0.5)};
  const TimedRuns timed = Time(run, 20);
  ASSERT_TRUE(timed.status.ok()) << timed.status.message;
  ASSERT_EQ(timed.times.size(), 20u);
  for (const SequenceTime& time : timed.times) {
    EXPECT_GT(time.busy_ticks, 0u);
    EXPECT_GE(time.span_ticks, time.busy_ticks);
  }
  std::printf("memset + 2 kernels: median span %.0f ns, first busy %.0f ns\n", MedianNs(timed),
              static_cast<double>(timed.times[0].busy_ticks) * device_->info().tick_ns);
  // Behind the hold the host's launches do not show: they take several microseconds each.
  EXPECT_LT(MedianNs(timed), 20000);
  EXPECT_EQ(Read(c_, 8)[7], 7.0f);
}

TEST_F(CudaDeviceTest, MoreRunsThanFitBehindOneHold) {
  TimedRun run;
  for (int i = 0; i < 50; ++i) run.sequence.push_back(Work(10));
  const TimedRuns timed = Time(run, 20);
  ASSERT_TRUE(timed.status.ok()) << timed.status.message;
  EXPECT_EQ(timed.times.size(), 20u);
}

TEST_F(CudaDeviceTest, TwiceTheWorkTakesTwiceTheTime) {
  TimedRun once;
  once.sequence = {Work(20000)};
  TimedRun twice;
  twice.sequence = {Work(40000)};
  const TimedRuns first = Time(once, 10);
  const TimedRuns second = Time(twice, 10);
  ASSERT_TRUE(first.status.ok()) << first.status.message;
  ASSERT_TRUE(second.status.ok()) << second.status.message;
  EXPECT_NEAR(MedianNs(second) / MedianNs(first), 2.0, 0.2);
}

TEST_F(CudaDeviceTest, HotIsFasterThanCold) {
  TimedRun hot;
  hot.preparation.touch = {{a_, kCount * sizeof(float)}, {b_, kCount * sizeof(float)}};
  hot.sequence = {Add()};
  TimedRun cold;
  cold.preparation.flush_bytes = 2 * device_->info().l2_bytes;
  cold.sequence = {Add()};
  for (int i = 0; i < 2; ++i) {
    const TimedRuns hot_times = Time(hot, 30);
    const TimedRuns cold_times = Time(cold, 30);
    ASSERT_TRUE(hot_times.status.ok()) << hot_times.status.message;
    ASSERT_TRUE(cold_times.status.ok()) << cold_times.status.message;
    std::printf("add: hot %.0f ns, cold %.0f ns\n", MedianNs(hot_times), MedianNs(cold_times));
    // The first round warms the chip up.
    if (i == 0) continue;
    EXPECT_LT(MedianNs(hot_times), MedianNs(cold_times));
  }
}

TEST_F(CudaDeviceTest, TouchingBringsBackWhatWasFlushed) {
  TimedRun flushed;
  flushed.preparation.flush_bytes = 2 * device_->info().l2_bytes;
  flushed.sequence = {Add()};
  TimedRun touched = flushed;
  touched.preparation.touch = {{a_, kCount * sizeof(float)}, {b_, kCount * sizeof(float)}};
  Time(flushed, 10);
  const TimedRuns touched_times = Time(touched, 30);
  const TimedRuns flushed_times = Time(flushed, 30);
  ASSERT_TRUE(touched_times.status.ok()) << touched_times.status.message;
  ASSERT_TRUE(flushed_times.status.ok()) << flushed_times.status.message;
  std::printf("add: flushed and touched %.0f ns, flushed %.0f ns\n", MedianNs(touched_times), MedianNs(flushed_times));
  EXPECT_LT(MedianNs(touched_times), 0.95 * MedianNs(flushed_times));
}

TEST_F(CudaDeviceTest, AMachineInOrderIsMeasured) {
  const std::string arch = device_->info().arch;
  const CompileResult compiled = compiler_->Compile({MachineCheckSource(arch), MachineCheckKernels(arch), arch});
  ASSERT_EQ(compiled.outcome, Outcome::kOk) << compiled.message;
  const LoadResult loaded = device_->Load(compiled.program, 1);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message;
  const auto measured = MeasureMachine(*device_, *loaded.program);
  ASSERT_EQ(measured.index(), 0U) << std::get<Failure>(measured).message;
  const auto& machine = std::get<MachineState>(measured);
  std::printf("empty %.0f ns, ratio %.3f, DRAM %.2f TB/s, L2 %.2f TB/s, fp32 %.1f, tensor %.0f TFLOP/s, SM %d MHz\n",
              machine.launch_ns, machine.control_ratio, machine.dram_bytes_per_s / 1e12, machine.l2_bytes_per_s / 1e12,
              machine.f32_per_s / 1e12, machine.tensor_per_s / 1e12, machine.clocks.sm_mhz);
  EXPECT_GT(machine.l2_bytes_per_s, machine.dram_bytes_per_s / 2);
  // Of a multiprocessor no more than 128 bytes a clock come in.
  EXPECT_LT(machine.l2_bytes_per_s, 128.0 * 3e9 * device_->info().multiprocessors);
  EXPECT_GT(machine.tensor_per_s, machine.f32_per_s);
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

// Each in a process of its own, started afresh with its own device: the context does not survive.
// An output of `count` elements and its reference, which differ here and there; some of either are not finite.
struct Compared {
  Dtype dtype;
  std::vector<std::byte> output;
  std::vector<double> reference;
};

template <typename Stored, bool kFloating, typename Convert>
Compared Differing(Dtype dtype, std::size_t count, Convert convert) {
  std::mt19937 random(static_cast<unsigned>(dtype) + 1);
  std::vector<Stored> output(count);
  std::vector<double> reference(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(random() % 100);
    output[i] = static_cast<Stored>(convert(value));
    reference[i] = random() % 7 == 0 ? value + 0.25 : value;
    if constexpr (kFloating) {
      if (i % 997 == 5) output[i] = convert(std::numeric_limits<float>::quiet_NaN());
      if (i % 499 == 7) reference[i] = std::numeric_limits<double>::infinity();
    }
  }
  const auto bytes = std::as_bytes(std::span(output));
  return {dtype, {bytes.begin(), bytes.end()}, reference};
}

std::vector<Compared> OfEveryDtype(std::size_t count) {
  const auto same = [](float v) { return v; };
  return {Differing<double, true>(Dtype::kF64, count, same),
          Differing<float, true>(Dtype::kF32, count, same),
          Differing<std::uint16_t, true>(Dtype::kF16, count, ToHalfBits),
          Differing<std::uint16_t, true>(Dtype::kBF16, count, ToBFloat16Bits),
          Differing<std::int64_t, false>(Dtype::kI64, count, same),
          Differing<std::int32_t, false>(Dtype::kI32, count, same),
          Differing<std::int16_t, false>(Dtype::kI16, count, same),
          Differing<std::int8_t, false>(Dtype::kI8, count, same),
          Differing<std::uint64_t, false>(Dtype::kU64, count, same),
          Differing<std::uint32_t, false>(Dtype::kU32, count, same),
          Differing<std::uint16_t, false>(Dtype::kU16, count, same),
          Differing<std::uint8_t, false>(Dtype::kU8, count, same)};
}

void ExpectSame(const InspectionResult& device, const InspectionResult& host) {
  EXPECT_EQ(device.different, host.different);
  EXPECT_EQ(device.first, host.first);
  EXPECT_EQ(device.largest, host.largest);
  EXPECT_EQ(device.worst, host.worst);
  EXPECT_EQ(device.hash, host.hash);
  EXPECT_NEAR(device.squares, host.squares, 1e-9 * host.squares);
  EXPECT_NEAR(device.reference_squares, host.reference_squares, 1e-9 * host.reference_squares);
}

TEST_F(CudaDeviceTest, InspectsAsTheHostDoes) {
  DeviceMemory& memory = device_->memory();
  // Not a multiple of anything, and more than one block has to look at.
  for (const Compared& one : OfEveryDtype(100'003)) {
    const Address output = memory.Allocate(one.output.size());
    const Address reference = memory.Allocate(one.reference.size() * sizeof(double));
    ASSERT_TRUE(memory.Write(output, one.output).ok());
    ASSERT_TRUE(memory.Write(reference, std::as_bytes(std::span(one.reference))).ok());
    for (const bool exact : {false, true}) {
      SCOPED_TRACE(fmt::format("{} exact {}", ToString(one.dtype), exact));
      const std::vector<Inspection> on_device = {
          {Inspection::Kind::kOutput, output, reference, one.output.size(), one.dtype, exact},
          {Inspection::Kind::kHash, output, 0, one.output.size()},
          {Inspection::Kind::kEqual, output + 1, reference + 3, 4095}};
      std::vector<Inspection> on_host = on_device;
      const auto at_output = reinterpret_cast<std::uint64_t>(one.output.data());
      const auto at_reference = reinterpret_cast<std::uint64_t>(one.reference.data());
      on_host[0].address = on_host[1].address = at_output;
      on_host[0].other = at_reference;
      on_host[2].address = at_output + 1;
      on_host[2].other = at_reference + 3;
      const Inspected inspected = device_->Inspect(on_device);
      ASSERT_TRUE(inspected.status.ok()) << inspected.status.message;
      ASSERT_EQ(inspected.results.size(), on_host.size());
      for (std::size_t i = 0; i < on_host.size(); ++i) ExpectSame(inspected.results[i], InspectHere(on_host[i]));
    }
    memory.Free(output);
    memory.Free(reference);
  }
}

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

TEST_F(CudaDeviceDeathTest, ACrashWhileTimedIsReported) {
  EXPECT_EXIT(CrashWhileTimed(), ::testing::ExitedWithCode(0), "crash sticky=1; next: crash sticky=1");
}

}  // namespace
}  // namespace evo
