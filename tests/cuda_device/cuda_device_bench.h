#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/device/cuda/cuda_device.h"
#include "platform/installation.h"

namespace evo {

inline constexpr char kKernels[] = R"(
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
// Loads one box of 8 columns and 4 rows, from column 8 and row 98 on.
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
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {8, 98}], [%2];" ::"r"(to), "l"(&map), "r"(at) : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(at) : "memory");
  }
  out[threadIdx.x] = box[threadIdx.x];
#endif
}
extern "C" __global__ void __launch_bounds__(128) narrow(float* x) { x[threadIdx.x] += 1; }
)";

enum Kernel : std::size_t { kAdd, kReverse, kScale, kWork, kPoke, kPrune, kClusterSize, kLoadBox, kNarrow };
inline const std::vector<std::string> kNames = {"add",     "reverse",      "scale",    "work",  "poke",
                                                "give_up", "cluster_size", "load_box", "narrow"};

inline constexpr int kCount = 1 << 18;

inline ScalarUse Int(std::int64_t value) { return {Dtype::kI32, Number::Integer(value)}; }
inline ScalarUse Real(double value) { return {Dtype::kF32, Number::Real(value)}; }

// The kernels above on the first GPU. Without a GPU every test fails with what is missing.
class CudaDeviceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { Open(CudaUse::kTiming); }
  static void Open(CudaUse use) {
    try {
      const std::filesystem::path root = CudaRoot().value_or("/usr/local/cuda");
      compiler_ = std::make_unique<NvrtcCompiler>(
          NvrtcPaths{root, ShareDirectory() / "nvrtc",
                     std::filesystem::temp_directory_path() / fmt::format("evo_cuda_test_{}", ::getpid())});
      device_ = std::make_unique<CudaDevice>(CudaDeviceOptions{0, root, use}, *compiler_);
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

  static inline std::unique_ptr<NvrtcCompiler> compiler_;
  static inline std::unique_ptr<CudaDevice> device_;
  static inline std::string missing_;
  std::unique_ptr<LoadedProgram> program_;
  Address a_ = 0;
  Address b_ = 0;
  Address c_ = 0;
};

}  // namespace evo
