#include "evaluator/device/cuda/inspection_kernel.h"

#include <fmt/format.h>

#include <algorithm>

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

// Joins the parts of the block's threads.
static __device__ void Collect(const Part& part, Part* to) {
  __shared__ Part shared[256];
  shared[threadIdx.x] = part;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) Join(shared[threadIdx.x], shared[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) *to = shared[0];
}

// Blocks along x share the inspection along y.
extern "C" __global__ void __launch_bounds__(256) evo_inspect(const Request* requests, Part* parts) {
  const Request r = requests[blockIdx.y];
  if (blockIdx.x >= r.blocks) return;
  const u64 begin = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u64 step = (u64)r.blocks * blockDim.x;
  Part part = {0, ~0ull, 0, 0, 0, ~0ull, 0};
  if (r.kind == 0) Equal(r, begin, step, part);
  if (r.kind == 1) Output(r, begin, step, part);
  if (r.kind == 2) Hash(r, begin, step, part);
  if (r.kind == 3) Pattern(r, begin, step, part);
  Collect(part, parts + blockIdx.y * gridDim.x + blockIdx.x);
}

// One block for each inspection, which has `stride` parts.
extern "C" __global__ void __launch_bounds__(256)
    evo_collect(const Request* requests, const Part* parts, u64 stride, Part* results) {
  Part part = {0, ~0ull, 0, 0, 0, ~0ull, 0};
  for (int i = threadIdx.x; i < requests[blockIdx.x].blocks; i += blockDim.x) Join(part, parts[blockIdx.x * stride + i]);
  Collect(part, results + blockIdx.x);
}
)";

struct Request {
  std::uint64_t address, other, bytes;
  std::int32_t kind, dtype, exact, blocks;
};
static_assert(sizeof(Request) == 40 && sizeof(InspectionResult) == 56, "the kernel lays them out in the same way");

constexpr std::uint32_t kThreads = 256;
constexpr int kInspect = 0;  // kernels
constexpr int kCollect = 1;
// As many blocks as run at once on the largest GPUs; each has at least sixteen bytes a thread.
constexpr std::uint64_t kBytesPerBlock = 16 * kThreads;
constexpr std::uint64_t kMostBlocks = 1024;
// A task has a handful of arguments with two guards each; more inspections take several launches.
constexpr std::size_t kMostAtOnce = 64;
constexpr std::size_t kResultsOffset = kMostAtOnce * sizeof(Request);
constexpr std::size_t kHostBytes = kResultsOffset + kMostAtOnce * sizeof(InspectionResult);
constexpr std::size_t kPartsOffset = kHostBytes;
constexpr std::size_t kDeviceBytes = kPartsOffset + kMostAtOnce * kMostBlocks * sizeof(InspectionResult);

std::uint32_t Blocks(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((bytes + kBytesPerBlock - 1) / kBytesPerBlock, 1, kMostBlocks));
}

}  // namespace

InspectionKernel::InspectionKernel(const DeviceInfo& device, Compiler& compiler, cudaStream_t stream) : stream_(stream) {
  CompileResult compiled = compiler.Compile({kInspectionSource, {"evo_inspect", "evo_collect"}, device.arch});
  if (compiled.outcome != Outcome::kOk) {
    throw Error(fmt::format("our own kernels do not compile for {}: {}; install a CUDA toolkit that knows this GPU", device.arch,
                            compiled.message));
  }
  program_ = std::make_unique<CudaProgram>(device, 64);
  if (const DeviceStatus status = program_->Load(compiled.program); !status.ok()) {
    throw Error(fmt::format("our own kernels do not load on {}: {}; update the NVIDIA driver", device.name, status.message));
  }
  Require(cudaHostAlloc(&host_, kHostBytes, cudaHostAllocDefault), "cudaHostAlloc");
  Require(cudaMalloc(&device_, kDeviceBytes), "cudaMalloc");
}

InspectionKernel::~InspectionKernel() {
  cudaStreamSynchronize(stream_);
  cudaFreeHost(host_);
  cudaFree(device_);
}

Inspected InspectionKernel::Inspect(std::span<const Inspection> inspections) {
  Inspected inspected;
  while (!inspections.empty() && inspected.status.ok()) {
    const auto some = inspections.first(std::min(inspections.size(), kMostAtOnce));
    inspected.status = InspectSome(some, inspected.results);
    inspections = inspections.subspan(some.size());
  }
  return inspected;
}

DeviceStatus InspectionKernel::Enqueue(const DeviceLaunch& launch) {
  if (DeviceStatus status = program_->Prepare(launch); !status.ok()) return status;
  return program_->Enqueue(launch, stream_);
}

DeviceStatus InspectionKernel::InspectSome(std::span<const Inspection> inspections, std::vector<InspectionResult>& results) {
  auto* requests = static_cast<Request*>(host_);
  std::uint32_t most = 1;
  for (std::size_t i = 0; i < inspections.size(); ++i) {
    const Inspection& one = inspections[i];
    const std::uint32_t blocks = Blocks(one.bytes);
    requests[i] = {one.address,
                   one.other,
                   one.bytes,
                   static_cast<int>(one.kind),
                   static_cast<int>(one.dtype),
                   one.exact ? 1 : 0,
                   static_cast<int>(blocks)};
    most = std::max(most, blocks);
  }
  const auto count = static_cast<std::uint32_t>(inspections.size());
  const auto device_requests = reinterpret_cast<Address>(device_);
  const Address device_results = device_requests + kResultsOffset;
  const Address device_parts = device_requests + kPartsOffset;
  auto* host_results = static_cast<char*>(host_) + kResultsOffset;
  cudaError_t error = cudaMemcpyAsync(device_, host_, count * sizeof(Request), cudaMemcpyHostToDevice, stream_);
  if (error != cudaSuccess) return ToStatus(error, "cudaMemcpyAsync to the device");
  DeviceLaunch inspect;
  inspect.kernel = kInspect;
  inspect.grid = {most, count, 1};
  inspect.block = {kThreads, 1, 1};
  inspect.arguments = {device_requests, device_parts};
  if (DeviceStatus status = Enqueue(inspect); !status.ok()) return status;
  DeviceLaunch collect;
  collect.kernel = kCollect;
  collect.grid = {count, 1, 1};
  collect.block = {kThreads, 1, 1};
  collect.arguments = {device_requests, device_parts, Address{most}, device_results};
  if (DeviceStatus status = Enqueue(collect); !status.ok()) return status;
  error = cudaMemcpyAsync(host_results, static_cast<char*>(device_) + kResultsOffset, count * sizeof(InspectionResult),
                          cudaMemcpyDeviceToHost, stream_);
  if (error != cudaSuccess) return ToStatus(error, "cudaMemcpyAsync from the device");
  if (DeviceStatus status = ToStatus(cudaStreamSynchronize(stream_), "cudaStreamSynchronize after the launches"); !status.ok())
    return status;
  const auto* first = reinterpret_cast<const InspectionResult*>(host_results);
  results.insert(results.end(), first, first + count);
  return {};
}

}  // namespace evo
