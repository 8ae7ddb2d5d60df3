#include "evaluator/device/cuda/inspection_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "evaluator/device/cuda/cuda_error.h"
#include "evaluator/device/cuda/cuda_memory.h"

namespace evo {
namespace {

// Does what InspectHere (evaluator/device/inspection.cc) does on the host; a test compares the two. Kinds and dtypes have the
// same numbers.
constexpr char kInspectionSource[] = R"(
typedef unsigned long long u64;
struct Request { u64 address, other, bytes; int kind, dtype, exact, blocks; };
struct Requests { Request one[64]; };
struct Part { u64 different, first; double squares, reference_squares, largest; u64 worst, hash; };

static __device__ bool Finite(double x) { return (__double_as_longlong(x) & 0x7ff0000000000000ll) != 0x7ff0000000000000ll; }

static __device__ double Load(const Request& r, u64 i) {
  const char* at = (const char*)r.address;
  switch (r.dtype) {
    case 0: return ((const double*)at)[i];
    case 1: return ((const float*)at)[i];
    case 2: {
      float f;
      asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(((const unsigned short*)at)[i]));
      return f;
    }
    case 3: return __uint_as_float((unsigned)((const unsigned short*)at)[i] << 16);
    case 4: return ((const long long*)at)[i];
    case 5: return ((const int*)at)[i];
    case 6: return ((const short*)at)[i];
    case 7: return ((const signed char*)at)[i];
    case 8: return ((const u64*)at)[i];
    case 9: return ((const unsigned*)at)[i];
    case 10: return ((const unsigned short*)at)[i];
    default: return ((const unsigned char*)at)[i];
  }
}

static __device__ int Bytes(int dtype) {
  if (dtype == 0 || dtype == 4 || dtype == 8) return 8;
  if (dtype == 1 || dtype == 5 || dtype == 9) return 4;
  return dtype == 7 || dtype == 11 ? 1 : 2;
}

static __device__ u64 Word(u64 base, u64 bytes, u64 word) {
  if (8 * word + 8 <= bytes && base % 8 == 0) return ((const u64*)base)[word];
  u64 value = 0;
  for (u64 i = 8 * word; i < bytes && i < 8 * word + 8; ++i) {
    value |= (u64)((const unsigned char*)base)[i] << (8 * (i - 8 * word));
  }
  return value;
}

static __device__ void Join(Part& into, const Part& part) {
  into.different += part.different;
  into.first = part.first < into.first ? part.first : into.first;
  into.squares += part.squares;
  into.reference_squares += part.reference_squares;
  into.hash += part.hash;
  if (part.largest > into.largest || (part.largest == into.largest && part.worst < into.worst)) {
    into.largest = part.largest;
    into.worst = part.worst;
  }
}

static __device__ void Equal(const Request& r, u64 begin, u64 step, Part& part) {
  for (u64 w = begin; 8 * w < r.bytes; w += step) {
    const u64 difference = Word(r.address, r.bytes, w) ^ Word(r.other, r.bytes, w);
    if (difference == 0) continue;
    for (int b = 0; b < 8; ++b) {
      if (((difference >> (8 * b)) & 255) == 0) continue;
      ++part.different;
      part.first = 8 * w + b < part.first ? 8 * w + b : part.first;
    }
  }
}

static __device__ void Pattern(const Request& r, u64 begin, u64 step, Part& part) {
  for (u64 w = begin; 8 * w < r.bytes; w += step) {
    u64 x = r.other;
    if (!r.exact) {
      x += (w + 1) * 0x9e3779b97f4a7c15ull;
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
      x ^= x >> 31;
    }
    const u64 have = r.bytes - 8 * w;
    if (have < 8) x &= ~0ull >> (64 - 8 * have);
    const u64 difference = Word(r.address, r.bytes, w) ^ x;
    if (difference == 0) continue;
    for (int b = 0; b < 8; ++b) {
      if (((difference >> (8 * b)) & 255) == 0) continue;
      ++part.different;
      part.first = 8 * w + b < part.first ? 8 * w + b : part.first;
    }
  }
}

static __device__ void Output(const Request& r, u64 begin, u64 step, Part& part) {
  const u64 count = r.bytes / Bytes(r.dtype);
  for (u64 i = begin; i < count; i += step) {
    const double value = Load(r, i);
    const double wanted = ((const double*)r.other)[i];
    const bool comparable = Finite(wanted);
    bool same = value == wanted;
    if (!r.exact) same = comparable ? Finite(value) : same || (value != value && wanted != wanted);
    if (!same) {
      ++part.different;
      part.first = i < part.first ? i : part.first;
    }
    if (!same || !comparable) continue;
    const double error = fabs(value - wanted);
    part.squares += error * error;
    part.reference_squares += wanted * wanted;
    if (error > part.largest) {
      part.largest = error;
      part.worst = i;
    }
  }
}

static __device__ void Hash(const Request& r, u64 begin, u64 step, Part& part) {
  for (u64 w = begin; 8 * w < r.bytes; w += step) {
    u64 x = Word(r.address, r.bytes, w) + (w + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    part.hash += x ^ (x >> 31);
  }
}

// Joins the parts of the block's threads. The first thread gets the whole, the others theirs.
static __device__ void JoinAll(Part& part) {
  __shared__ Part shared[256];
  __syncthreads();
  shared[threadIdx.x] = part;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) Join(shared[threadIdx.x], shared[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) part = shared[0];
}

// Blocks along x share the inspection along y. The last of them to end joins all parts, in their order. `ended` counts those that
// have ended; it is zero before.
extern "C" __global__ void __launch_bounds__(256)
    evo_inspect(const __grid_constant__ Requests requests, Part* parts, unsigned* ended, Part* results) {
  const Request& r = requests.one[blockIdx.y];
  if (blockIdx.x >= r.blocks) return;
  const u64 begin = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u64 step = (u64)r.blocks * blockDim.x;
  Part part = {0, ~0ull, 0, 0, 0, ~0ull, 0};
  if (r.kind == 0) Equal(r, begin, step, part);
  if (r.kind == 1) Output(r, begin, step, part);
  if (r.kind == 2) Hash(r, begin, step, part);
  if (r.kind == 3) Pattern(r, begin, step, part);
  JoinAll(part);
  if (r.blocks > 1) {
    Part* of_request = parts + (u64)blockIdx.y * gridDim.x;
    __shared__ bool last;
    if (threadIdx.x == 0) {
      of_request[blockIdx.x] = part;
      __threadfence();
      last = atomicAdd(&ended[blockIdx.y], 1) + 1 == r.blocks;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    part = {0, ~0ull, 0, 0, 0, ~0ull, 0};
    for (int i = threadIdx.x; i < r.blocks; i += blockDim.x) Join(part, of_request[i]);
    JoinAll(part);
  }
  if (threadIdx.x == 0) results[blockIdx.y] = part;
}
)";

struct Request {
  std::uint64_t address, other, bytes;
  std::int32_t kind, dtype, exact, blocks;
};
static_assert(sizeof(Request) == 40 && sizeof(InspectionResult) == 56, "the kernel lays them out in the same way");

constexpr std::uint32_t kThreads = 256;
// As many blocks as run at once on the largest GPUs; each has at least sixteen bytes a thread.
constexpr std::uint64_t kBytesPerBlock = 16 * kThreads;
constexpr std::uint64_t kMostBlocks = 1024;
// A task has a handful of arguments with two guards each; more inspections take several launches. A kernel takes 4 KB of
// arguments.
constexpr std::size_t kMostAtOnce = 64;
// What one check of a candidate begins; more are waited for before the rest.
constexpr std::size_t kMostPending = 16 * kMostAtOnce;
constexpr std::size_t kHostBytes = kMostPending * sizeof(InspectionResult);
constexpr std::size_t kPartsOffset = kMostAtOnce * sizeof(InspectionResult);
constexpr std::size_t kDeviceBytes = kPartsOffset + kMostAtOnce * kMostBlocks * sizeof(InspectionResult);

struct Requests {
  std::array<Request, kMostAtOnce> one;
};

// An error is never negative.
InspectionResult NoResult() {
  InspectionResult none;
  none.largest = -1;
  return none;
}

std::uint32_t Blocks(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((bytes + kBytesPerBlock - 1) / kBytesPerBlock, 1, kMostBlocks));
}

}  // namespace

InspectionKernel::InspectionKernel(const DeviceInfo& device, Compiler& compiler, cudaStream_t stream) : stream_(stream) {
  CompileResult compiled = compiler.Compile({kInspectionSource, {"evo_inspect"}, device.arch});
  if (compiled.outcome != Outcome::kOk) {
    throw Error(fmt::format("our own kernels do not compile for {}: {}; install a CUDA toolkit that knows this GPU", device.arch,
                            compiled.message));
  }
  program_ = std::make_unique<CudaProgram>(device, 64);
  if (const DeviceStatus status = program_->Load(compiled.program); !status.ok()) {
    throw Error(fmt::format("our own kernels do not load on {}: {}; update the NVIDIA driver", device.name, status.message));
  }
  // The kernel writes what it found there; with unified addressing it uses the host's pointer.
  Require(cudaHostAlloc(&host_, kHostBytes, cudaHostAllocMapped), "cudaHostAlloc");
  Require(cudaMalloc(&device_, kDeviceBytes), "cudaMalloc");
}

InspectionKernel::~InspectionKernel() {
  cudaStreamSynchronize(stream_);
  cudaFreeHost(host_);
  cudaFree(device_);
}

Inspected InspectionKernel::Inspect(std::span<const Inspection> inspections) {
  DeviceStatus begun = Begin(inspections);
  Inspected seen = Collect();
  if (!begun.ok()) seen.status = std::move(begun);
  return seen;
}

DeviceStatus InspectionKernel::Begin(std::span<const Inspection> inspections) {
  DeviceStatus status;
  while (!inspections.empty() && status.ok()) {
    const auto some = inspections.first(std::min(inspections.size(), kMostAtOnce));
    if (pending_ + some.size() > kMostPending) status = Drain();
    if (status.ok()) status = BeginSome(some);
    inspections = inspections.subspan(some.size());
  }
  return status;
}

Inspected InspectionKernel::Collect() {
  DeviceStatus status = Drain();
  return {std::move(status), std::exchange(done_, {})};
}

DeviceStatus InspectionKernel::Drain() {
  const std::size_t count = std::exchange(pending_, 0);
  if (DeviceStatus status = ToStatus(cudaStreamSynchronize(stream_), "cudaStreamSynchronize after the launches"); !status.ok())
    return status;
  const auto* first = static_cast<const InspectionResult*>(host_);
  if (std::any_of(first, first + count, [](const InspectionResult& one) { return one.largest < 0; }))
    return {Outcome::kCheating, "wrote to memory that belongs to no buffer: an inspection has no result", false};
  done_.insert(done_.end(), first, first + count);
  return {};
}

DeviceStatus InspectionKernel::BeginSome(std::span<const Inspection> inspections) {
  Requests requests{};
  std::uint32_t most = 1;
  for (std::size_t i = 0; i < inspections.size(); ++i) {
    const Inspection& one = inspections[i];
    const std::uint32_t blocks = Blocks(one.bytes);
    requests.one[i] = {one.address,
                       one.other,
                       one.bytes,
                       static_cast<int>(one.kind),
                       static_cast<int>(one.dtype),
                       one.exact ? 1 : 0,
                       static_cast<int>(blocks)};
    most = std::max(most, blocks);
  }
  // A wild write of a candidate must not make a later inspection miss: nothing is left from one to the next.
  auto* results = static_cast<InspectionResult*>(host_) + pending_;
  std::fill_n(results, inspections.size(), NoResult());
  if (const cudaError_t error = cudaMemsetAsync(device_, 0, kPartsOffset, stream_); error != cudaSuccess)
    return ToStatus(error, "cudaMemsetAsync");
  char* parts = static_cast<char*>(device_) + kPartsOffset;
  void* arguments[] = {&requests, &parts, &device_, &results};
  const auto count = static_cast<unsigned>(inspections.size());
  if (DeviceStatus status = program_->EnqueueRaw(0, {most, count}, {kThreads}, arguments, stream_); !status.ok()) return status;
  pending_ += inspections.size();
  return {};
}

}  // namespace evo
