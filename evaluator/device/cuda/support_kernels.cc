#include "evaluator/device/cuda/support_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "evaluator/device/cuda/cuda_error.h"

namespace evo {
namespace {

// evo_hold ends after 40,000 naps of a microsecond or two, so that a host that waits for the device inside a launch cannot
// deadlock. evo_touch reads through L2 only (ld.global.cg), 16 bytes at a time, some 17 blocks further on in each pass, or the
// whole range in every block (whole). The values must be used, or ptxas removes the loads, volatile or not. evo_displace is 2,048
// consecutive instructions of 16 bytes: docs/adr/0011 says why so many.
constexpr char kSource[] = R"(
extern "C" __global__ void evo_hold(const volatile int* released) {
  for (int i = 0; i < 40000 && *released == 0; ++i) __nanosleep(1000);
}

__device__ unsigned evo_sink;

extern "C" __global__ void evo_touch(const uint4* begin, unsigned long long count, unsigned passes, unsigned whole) {
  const unsigned long long stride = whole ? blockDim.x : 1ull * gridDim.x * blockDim.x;
  const unsigned long long first = whole ? threadIdx.x : 1ull * blockIdx.x * blockDim.x + threadIdx.x;
  unsigned all = 0;
  for (unsigned pass = 0; pass < passes; ++pass) {
    const unsigned long long on = pass * (17ull * blockDim.x + 1) % count;
    for (unsigned long long i = first; i < count; i += stride) {
      const unsigned long long at = i + on < count ? i + on : i + on - count;
      uint4 v;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(begin + at));
      all += v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  if (all == 0x9e3779b9u) evo_sink = all;
}

extern "C" __global__ void evo_scrub(unsigned words) {
  extern __shared__ volatile unsigned shared[];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) shared[i] = 0xffffffffu;
}

extern "C" __global__ void evo_displace(float x, float y) {
#pragma unroll
  for (int i = 0; i < 1024; ++i) {
    x = fmaf(x, x, 1.0f + i);
    y = fmaf(y, y, 0.5f - i);
  }
  if (x + y == 0.0f) evo_sink = 1;
}

extern "C" __global__ void evo_tick(unsigned steps) {
  unsigned v = 0;
  for (unsigned i = 0; i < steps; ++i) asm volatile("add.u32 %0, %0, 1;" : "+r"(v));
}
)";

enum Kernel : std::size_t { kHold, kTouch, kTick, kScrub, kDisplace };

constexpr std::uint32_t kTouchThreads = 256;
// 8 blocks of 256 threads are the most that a multiprocessor runs, 2,048 threads: enough to fill the device with loads.
constexpr std::uint32_t kTouchBlocksPerMultiprocessor = 8;
constexpr std::uint64_t kVectorBytes = 16;
// L2 has two halves, and a multiprocessor reads its own half faster. Which half holds data that was read once depends on its
// address. A small range is therefore read several times, by other multiprocessors each time, until both halves hold it.
constexpr std::uint64_t kMostTouches = 16;
constexpr std::uint64_t kTouchedBytes = 16 << 20;
// A range up to this size is read by every multiprocessor.
constexpr std::uint64_t kTouchedByAll = 64 << 10;
constexpr std::uint32_t kScrubThreads = 1024;
// One warp for each scheduler of a multiprocessor, since each has its own instruction cache.
constexpr std::uint32_t kDisplaceThreads = 128;

}  // namespace

SupportKernels::SupportKernels(const DeviceInfo& device, Compiler& compiler, cudaStream_t stream)
    : device_(device), stream_(stream) {
  CompileResult compiled =
      compiler.Compile({kSource, {"evo_hold", "evo_touch", "evo_tick", "evo_scrub", "evo_displace"}, device.arch});
  if (compiled.outcome != Outcome::kOk) {
    throw Error(fmt::format("our own kernels do not compile for {}: {}; install a CUDA toolkit that knows this GPU", device.arch,
                            compiled.message));
  }
  program_ = std::make_unique<CudaProgram>(device, 64);
  if (const DeviceStatus status = program_->Load(compiled.program); !status.ok()) {
    throw Error(fmt::format("our own kernels do not load on {}: {}; update the NVIDIA driver", device.name, status.message));
  }
  void* host = nullptr;
  Require(cudaHostAlloc(&host, sizeof(int), cudaHostAllocMapped), "cudaHostAlloc");
  released_ = static_cast<volatile int*>(host);
  *released_ = 1;
}

SupportKernels::~SupportKernels() {
  Release();
  cudaStreamSynchronize(stream_);
  cudaFreeHost(const_cast<int*>(released_));
}

const std::string& SupportKernels::hold_symbol() const { return program_->symbol(kHold); }
const std::string& SupportKernels::touch_symbol() const { return program_->symbol(kTouch); }
const std::string& SupportKernels::scrub_symbol() const { return program_->symbol(kScrub); }
const std::string& SupportKernels::displace_symbol() const { return program_->symbol(kDisplace); }
const std::string& SupportKernels::tick_symbol() const { return program_->symbol(kTick); }

DeviceStatus SupportKernels::Hold() {
  *released_ = 0;
  DeviceLaunch launch;
  launch.kernel = kHold;
  // With unified addressing the device uses the host's pointer.
  launch.arguments = {reinterpret_cast<Address>(const_cast<int*>(released_))};
  return Launch(launch);
}

void SupportKernels::Release() { *released_ = 1; }

DeviceStatus SupportKernels::Touch(const DeviceTouch& touch) {
  const Address begin = touch.address / kVectorBytes * kVectorBytes;
  const std::uint64_t count = (touch.address + touch.bytes - begin + kVectorBytes - 1) / kVectorBytes;
  const std::uint64_t blocks = (count + kTouchThreads - 1) / kTouchThreads;
  DeviceLaunch launch;
  launch.kernel = kTouch;
  const auto multiprocessors = static_cast<std::uint32_t>(device_.multiprocessors);
  const bool whole = touch.bytes <= kTouchedByAll;
  launch.grid[0] =
      whole ? multiprocessors
            : static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, kTouchBlocksPerMultiprocessor * multiprocessors));
  launch.block[0] = kTouchThreads;
  const std::uint64_t passes = whole ? 1 : std::clamp<std::uint64_t>(kTouchedBytes / (count * kVectorBytes), 1, kMostTouches);
  launch.arguments = {begin, ScalarUse{Dtype::kU64, Number::Integer(static_cast<std::int64_t>(count))},
                      ScalarUse{Dtype::kU32, Number::Integer(static_cast<std::int64_t>(passes))},
                      ScalarUse{Dtype::kU32, Number::Integer(whole ? 1 : 0)}};
  return Launch(launch);
}

DeviceStatus SupportKernels::ScrubShared() {
  // A block that asks for all shared memory has a multiprocessor to itself.
  DeviceLaunch launch;
  launch.kernel = kScrub;
  launch.grid[0] = static_cast<std::uint32_t>(device_.multiprocessors);
  launch.block[0] = kScrubThreads;
  launch.shared_bytes = device_.shared_bytes_per_block_optin;
  launch.arguments = {
      ScalarUse{Dtype::kU32, Number::Integer(static_cast<std::int64_t>(launch.shared_bytes / sizeof(std::uint32_t)))}};
  return Launch(launch);
}

DeviceStatus SupportKernels::DisplaceCode() {
  DeviceLaunch launch;
  launch.kernel = kDisplace;
  launch.grid[0] = static_cast<std::uint32_t>(device_.multiprocessors);
  launch.block[0] = kDisplaceThreads;
  launch.arguments = {ScalarUse{Dtype::kF32, Number::Real(0.5)}, ScalarUse{Dtype::kF32, Number::Real(0.25)}};
  return Launch(launch);
}

DeviceStatus SupportKernels::Tick(std::uint32_t steps) {
  DeviceLaunch launch;
  launch.kernel = kTick;
  launch.arguments = {ScalarUse{Dtype::kU32, Number::Integer(steps)}};
  return Launch(launch);
}

DeviceStatus SupportKernels::Launch(const DeviceLaunch& launch) {
  if (DeviceStatus status = program_->Prepare(launch); !status.ok()) return status;
  return program_->Enqueue(launch, stream_);
}

}  // namespace evo
