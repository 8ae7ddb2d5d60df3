#include "evaluator/device/cuda/support_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "evaluator/device/cuda/cuda_error.h"
#include "evaluator/device/cuda/support_kernel_source.h"

namespace evo {
namespace {

enum Kernel : std::size_t { kHold, kTouch, kTick, kScrub, kDisplace, kPoison, kScrubLocal };

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
constexpr std::uint32_t kScrubLocalThreads = 512;
constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kPoisonThreads = 256;
// One warp for each scheduler of a multiprocessor, since each has its own instruction cache.
constexpr std::uint32_t kDisplaceThreads = 128;

ScalarUse Unsigned(std::uint64_t value) { return {Dtype::kU32, Number::Integer(static_cast<std::int64_t>(value))}; }

}  // namespace

SupportKernels::SupportKernels(const DeviceInfo& device, int max_warps_per_multiprocessor, Compiler& compiler,
                               cudaStream_t stream)
    : device_(device), max_warps_(max_warps_per_multiprocessor), stream_(stream) {
  CompileResult compiled = compiler.Compile({SupportKernelSource(), SupportKernelNames(), device.arch});
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
const std::string& SupportKernels::poison_symbol() const { return program_->symbol(kPoison); }
const std::string& SupportKernels::scrub_local_symbol(std::size_t local_bytes) const {
  return program_->symbol(LocalKernel(local_bytes));
}

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

DeviceStatus SupportKernels::ScrubShared(const DevicePattern& pattern) {
  pattern_ = pattern;
  // A block that asks for all shared memory has a multiprocessor to itself.
  DeviceLaunch launch;
  launch.kernel = kScrub;
  launch.grid[0] = static_cast<std::uint32_t>(device_.multiprocessors);
  launch.block[0] = kScrubThreads;
  launch.shared_bytes = device_.shared_bytes_per_block_optin;
  launch.arguments = {Unsigned(launch.shared_bytes / sizeof(std::uint64_t)), Address{pattern.word}, Unsigned(pattern.random)};
  return Launch(launch);
}

std::size_t SupportKernels::LocalKernel(std::size_t local_bytes) {
  const auto found = std::lower_bound(kLocalScrubBytes.begin(), kLocalScrubBytes.end(), local_bytes);
  return kScrubLocal + static_cast<std::size_t>(found - kLocalScrubBytes.begin());
}

DeviceStatus SupportKernels::ScrubLocal(std::size_t local_bytes) {
  DeviceLaunch launch;
  launch.kernel = LocalKernel(local_bytes);
  const auto resident = static_cast<std::uint32_t>(max_warps_) * kWarpLanes;
  launch.grid[0] = static_cast<std::uint32_t>(device_.multiprocessors) * (resident / kScrubLocalThreads);
  launch.block[0] = kScrubLocalThreads;
  launch.cooperative = true;
  launch.arguments = {Address{pattern_.word}, Unsigned(pattern_.random)};
  return Launch(launch);
}

DeviceStatus SupportKernels::Poison(const DevicePoison& poison) {
  if (poison.bytes == 0) return {};
  const std::uint64_t words = (poison.bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  const std::uint64_t most = kTouchBlocksPerMultiprocessor * static_cast<std::uint64_t>(device_.multiprocessors);
  DeviceLaunch launch;
  launch.kernel = kPoison;
  launch.grid[0] = static_cast<std::uint32_t>(std::min<std::uint64_t>((words + kPoisonThreads - 1) / kPoisonThreads, most));
  launch.block[0] = kPoisonThreads;
  launch.arguments = {
      Address{poison.address},      Address{poison.bytes},
      Address{poison.pattern.word}, Unsigned(poison.pattern.random),
      Address{poison.answer},       ScalarUse{Dtype::kI32, Number::Integer(static_cast<std::int64_t>(poison.dtype))}};
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
