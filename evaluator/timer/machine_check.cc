#include "evaluator/timer/machine_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace evo {
namespace {

// Each loop does nothing but the measured operation, with enough independent work in flight: 16 chains of fused multiply-adds a
// thread; loads of 16 bytes that bypass L1, over a quarter of L2; a copy of many times the size of L2.
constexpr std::string_view kCommon = R"(
extern "C" __global__ void evo_empty() {}

extern "C" __global__ void evo_f32(float* out, unsigned steps) {
  float sum[16];
  for (int i = 0; i < 16; ++i) sum[i] = threadIdx.x + i;
  const float factor = 1.0f - 1e-6f * (threadIdx.x & 1);
#pragma unroll 1
  for (unsigned s = 0; s < steps; ++s) {
#pragma unroll
    for (int r = 0; r < 8; ++r) {
#pragma unroll
      for (int i = 0; i < 16; ++i) sum[i] = fmaf(sum[i], factor, 1e-6f);
    }
  }
  float all = 0;
  for (int i = 0; i < 16; ++i) all += sum[i];
  if (all == -1.0f) *out = all;
}

extern "C" __global__ void evo_read(unsigned* out, const uint4* from, unsigned vectors, unsigned passes) {
  const unsigned stride = gridDim.x * blockDim.x;
  unsigned all = 0;
#pragma unroll 1
  for (unsigned p = 0; p < passes; ++p) {
#pragma unroll 4
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += stride) {
      uint4 v;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from + i));
      all += v.x ^ v.y ^ v.z ^ v.w;   // unused loads would be left out
    }
  }
  if (all == 0x9e3779b9u) *out = all;
}

extern "C" __global__ void evo_copy(uint4* to, const uint4* from, unsigned vectors) {
  const unsigned stride = gridDim.x * blockDim.x;
#pragma unroll 4
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += stride) to[i] = from[i];
}
)";

// Operands are not zero, since a matrix unit draws less power on zeros.
constexpr std::string_view kWgmmaHead = R"(
extern "C" __global__ void __launch_bounds__(128) evo_tensor(float* out, unsigned steps) {
  __shared__ __align__(128) unsigned short operands[(64 + 256) * 16];
  for (unsigned i = threadIdx.x; i < (64 + 256) * 16; i += 128) operands[i] = 0x3000u + ((i * 2654435761u >> 20) & 0x83ffu);
  __syncthreads();
  asm volatile("fence.proxy.async;");
  const unsigned at = (unsigned)__cvta_generic_to_shared(operands);
  const unsigned long long layout = (8ull << 16) | (16ull << 32);
  const unsigned long long a = layout | (at >> 4);
  const unsigned long long b = layout | ((at + 64 * 16 * 2) >> 4);
  float d[128];
  for (int i = 0; i < 128; ++i) d[i] = 0;
  asm volatile("wgmma.fence.sync.aligned;");
#pragma unroll 1
  for (unsigned s = 0; s < steps; ++s) {
#pragma unroll
    for (int r = 0; r < 8; ++r) {
)";
constexpr std::string_view kWgmmaTail = R"(
    }
    asm volatile("wgmma.commit_group.sync.aligned;");
    asm volatile("wgmma.wait_group.sync.aligned 0;");
  }
  float all = 0;
  for (int i = 0; i < 128; ++i) all += d[i];
  if (all == -1.0f) *out = all;
}
)";
constexpr std::string_view kMmaKernel = R"(
extern "C" __global__ void __launch_bounds__(256) evo_tensor(float* out, unsigned steps) {
  unsigned a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = 0x30003000u + ((threadIdx.x * 7 + i) & 0x3ffu);
  for (int i = 0; i < 2; ++i) b[i] = 0xb0003000u + ((threadIdx.x * 5 + i) & 0x3ffu);
  float d[8][4] = {};
#pragma unroll 1
  for (unsigned s = 0; s < steps; ++s) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                   "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  }
  float all = 0;
  for (int i = 0; i < 8; ++i) all += d[i][0] + d[i][1] + d[i][2] + d[i][3];
  if (all == -1.0f) *out = all;
}
)";

enum Kernel : std::size_t { kEmpty, kF32, kRead, kCopy, kTensor };
enum class Tensor { kNone, kMma, kWgmma };

constexpr int kWgmmaSums = 128;  // of a thread, for a tile of 64 x 256

Tensor TensorOf(std::string_view arch) {
  if (arch == "sm_90a") return Tensor::kWgmma;
  // Architectures up to sm_75 have another shape.
  return arch.size() > 5 || arch >= "sm_80" ? Tensor::kMma : Tensor::kNone;
}

std::string Wgmma() {
  std::string registers;
  std::string operands;
  for (int i = 0; i < kWgmmaSums; ++i) {
    registers += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    operands += fmt::format("{}\"+f\"(d[{}])", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      "asm volatile(\"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{{}}}, %{}, %{}, 1, 1, 1, 0, 0;\" : {} : \"l\"(a), "
      "\"l\"(b));\n",
      registers, kWgmmaSums, kWgmmaSums + 1, operands);
}

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kBlocksPerMultiprocessor = 8;
constexpr std::uint32_t kF32Steps = 256;
constexpr double kF32OperationsPerStep = 2 * 8 * 16;  // of a thread
constexpr std::uint32_t kReadPasses = 64;
constexpr std::uint64_t kCopyBytes = 256ull << 20;
constexpr std::uint64_t kVectorBytes = 16;
constexpr std::uint32_t kTensorSteps = 256;
constexpr double kWgmmaOperationsPerStep = 8 * 2.0 * 64 * 256 * 16;  // of a block of 128 threads
constexpr double kMmaOperationsPerStep = 8 * 2.0 * 16 * 8 * 16;      // of a warp
constexpr int kRuns = 6;
// The slow control does four times the work of the fast one; its time must be this many times longer.
constexpr double kControlWork = 4;
constexpr double kLeastRatio = 3.6;
constexpr double kMostRatio = 4.4;

ScalarUse Count(std::uint64_t value) { return {Dtype::kU32, Number::Integer(static_cast<std::int64_t>(value))}; }

class MachineCheck {
 public:
  MachineCheck(Device& device, LoadedProgram& program) : device_(device), program_(program) {}
  ~MachineCheck() {
    for (const Address buffer : {to_, from_}) {
      if (buffer != 0) device_.memory().Free(buffer);
    }
  }
  MachineCheck(const MachineCheck&) = delete;
  MachineCheck& operator=(const MachineCheck&) = delete;

  std::variant<MachineState, Failure> Measure() {
    bytes_ = std::min<std::uint64_t>(kCopyBytes, device_.info().memory_bytes / 8);
    to_ = device_.memory().Allocate(bytes_);
    from_ = device_.memory().Allocate(bytes_);
    if (to_ == 0 || from_ == 0)
      return Failure{Outcome::kResourceLimit, fmt::format("no {} bytes of device memory are free", 2 * bytes_)};
    state_.ordinal = device_.info().ordinal;
    state_.l2_bytes = device_.info().l2_bytes;
    const double empty = Time(kEmpty, 1, 1, {});
    MeasureArithmetic();
    MeasureMemory();
    if (!status_.ok()) return ToFailure(status_);
    state_.launch_ns = empty;
    state_.clocks = device_.Clocks();
    if (empty < fast_ && state_.control_ratio > kLeastRatio && state_.control_ratio < kMostRatio) return state_;
    return Failure{
        Outcome::kNoisy,
        fmt::format("control kernels of 0, 1 and 4 parts of work took {:.2f}, {:.2f} and {:.2f} us: this machine or its timer "
                    "cannot tell kernels apart; end what else uses the GPU, and see `evo doctor`",
                    empty / 1e3, fast_ / 1e3, slow_ / 1e3)};
  }

 private:
  // The shortest of several runs in nanoseconds, not counting the first.
  double Time(Kernel kernel, std::uint32_t blocks, std::uint32_t threads, std::vector<DeviceArgument> arguments) {
    if (!status_.ok()) return kNoValue;
    TimedRun run;
    run.preparation.scrub = false;
    DeviceLaunch launch;
    launch.kernel = kernel;
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.arguments = std::move(arguments);
    run.sequence = {launch};
    const TimedRuns timed = device_.Time(program_, std::vector<TimedRun>(kRuns, run));
    status_ = timed.status;
    if (!status_.ok()) return kNoValue;
    std::uint64_t least = timed.times.back().span_ticks;
    for (std::size_t i = 1; i < timed.times.size(); ++i) least = std::min(least, timed.times[i].span_ticks);
    return static_cast<double>(least) * device_.info().tick_ns;
  }

  void MeasureArithmetic() {
    const std::uint32_t blocks = Multiprocessors() * kBlocksPerMultiprocessor;
    fast_ = Time(kF32, blocks, kThreads, {to_, Count(kF32Steps)});
    slow_ = Time(kF32, blocks, kThreads, {to_, Count(static_cast<std::uint64_t>(kControlWork) * kF32Steps)});
    state_.control_ratio = slow_ / fast_;
    state_.f32_per_s = kControlWork * kF32Steps * kF32OperationsPerStep * blocks * kThreads / slow_ * 1e9;
    const Tensor tensor = TensorOf(device_.info().arch);
    if (tensor == Tensor::kWgmma) {
      const std::uint32_t groups = 2 * Multiprocessors();
      state_.tensor_per_s =
          kTensorSteps * kWgmmaOperationsPerStep * groups / Time(kTensor, groups, 128, {to_, Count(kTensorSteps)}) * 1e9;
    } else if (tensor == Tensor::kMma) {
      const std::uint32_t tensor_blocks = 4 * Multiprocessors();
      const double warps = tensor_blocks * kThreads / 32.0;
      state_.tensor_per_s = 8 * kTensorSteps * kMmaOperationsPerStep * warps /
                            Time(kTensor, tensor_blocks, kThreads, {to_, Count(8 * kTensorSteps)}) * 1e9;
    }
  }

  void MeasureMemory() {
    const std::uint32_t blocks = Multiprocessors() * kBlocksPerMultiprocessor;
    const std::uint64_t vectors = bytes_ / kVectorBytes;
    state_.dram_bytes_per_s =
        2.0 * static_cast<double>(bytes_) / Time(kCopy, blocks, kThreads, {to_, from_, Count(vectors)}) * 1e9;
    if (state_.l2_bytes == 0) return;
    const std::uint64_t within = std::min<std::uint64_t>(state_.l2_bytes / 4, bytes_) / kVectorBytes;
    const double read = static_cast<double>(within * kVectorBytes) * kReadPasses;
    state_.l2_bytes_per_s = read / Time(kRead, blocks, kThreads, {to_, from_, Count(within), Count(kReadPasses)}) * 1e9;
  }

  std::uint32_t Multiprocessors() const { return static_cast<std::uint32_t>(device_.info().multiprocessors); }

  Device& device_;
  LoadedProgram& program_;
  MachineState state_;
  DeviceStatus status_;
  std::uint64_t bytes_ = 0;
  Address to_ = 0;
  Address from_ = 0;
  double fast_ = kNoValue;
  double slow_ = kNoValue;
};

}  // namespace

std::string MachineCheckSource(const std::string& arch) {
  std::string source(kCommon);
  switch (TensorOf(arch)) {
    case Tensor::kWgmma:
      return source.append(kWgmmaHead).append(Wgmma()).append(kWgmmaTail);
    case Tensor::kMma:
      return source.append(kMmaKernel);
    default:
      return source;
  }
}

std::vector<std::string> MachineCheckKernels(const std::string& arch) {
  std::vector<std::string> kernels = {"evo_empty", "evo_f32", "evo_read", "evo_copy"};
  if (TensorOf(arch) != Tensor::kNone) kernels.push_back("evo_tensor");
  return kernels;
}

std::variant<MachineState, Failure> MeasureMachine(Device& device, LoadedProgram& program) {
  return MachineCheck(device, program).Measure();
}

}  // namespace evo
