#include "evaluator/device/cuda/inspection_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "evaluator/device/cuda/cuda_error.h"
#include "evaluator/device/cuda/cuda_memory.h"

namespace evo {
namespace {

// As InspectHere (evaluator/device/inspection.cc) does it on the host: a test holds the two together. Kinds and dtypes are numbered as
// there.
constexpr char kSource[] = R"(
typedef unsigned long long u64;
struct Request { u64 address, other, bytes; int kind, dtype, exact, unused; };
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

static __device__ int Bytes(int dtype) { return dtype == 0 || dtype == 4 || dtype == 8 ? 8 : dtype == 1 || dtype == 5 || dtype == 9 ? 4 : dtype == 7 || dtype == 11 ? 1 : 2; }

static __device__ u64 Word(u64 base, u64 bytes, u64 word) {
  if (8 * word + 8 <= bytes && base % 8 == 0) return ((const u64*)base)[word];
  u64 value = 0;
  for (u64 i = 8 * word; i < bytes && i < 8 * word + 8; ++i) value |= (u64)((const unsigned char*)base)[i] << (8 * (i - 8 * word));
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

extern "C" __global__ void __launch_bounds__(256) evo_inspect(const Request* requests, Part* parts) {
  const Request r = requests[blockIdx.y];
  const u64 begin = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u64 step = (u64)gridDim.x * blockDim.x;
  Part part = {0, ~0ull, 0, 0, 0, ~0ull, 0};
  if (r.kind == 0) Equal(r, begin, step, part);
  if (r.kind == 1) Output(r, begin, step, part);
  if (r.kind == 2) Hash(r, begin, step, part);
  __shared__ Part shared[256];
  shared[threadIdx.x] = part;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) Join(shared[threadIdx.x], shared[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = shared[0];
}
)";

struct Request {
  std::uint64_t address, other, bytes;
  std::int32_t kind, dtype, exact, unused;
};
static_assert(sizeof(Request) == 40 && sizeof(InspectionResult) == 56, "the kernel lays them out in the same way");

constexpr std::uint32_t kThreads = 256;
// What a thread should have to do before another block is worth its start.
constexpr std::uint64_t kBytesPerBlock = 32 * 1024;
constexpr std::uint32_t kMostBlocks = 128;
// A task has a handful of arguments with two guards each; more go in turns.
constexpr std::size_t kMostTogether = 64;
constexpr std::size_t kPartsOffset = kMostTogether * sizeof(Request);
constexpr std::size_t kBufferBytes = kPartsOffset + kMostTogether * kMostBlocks * sizeof(InspectionResult);

}  // namespace

InspectionKernel::InspectionKernel(const DeviceInfo& device, Compiler& compiler, cudaStream_t stream) : stream_(stream) {
  CompileResult compiled = compiler.Compile({kSource, {"evo_inspect"}, device.arch});
  if (compiled.outcome != Outcome::kOk) {
    throw Error(fmt::format("our own kernels do not compile for {}: {}; install a CUDA toolkit that knows this GPU", device.arch, compiled.message));
  }
  program_ = std::make_unique<CudaProgram>(device, 64);
  if (const DeviceStatus status = program_->Load(compiled.program); !status.ok()) {
    throw Error(fmt::format("our own kernels do not load on {}: {}; update the NVIDIA driver", device.name, status.message));
  }
  Require(cudaHostAlloc(&host_, kBufferBytes, cudaHostAllocDefault), "cudaHostAlloc");
  Require(cudaMalloc(&device_, kBufferBytes), "cudaMalloc");
}

InspectionKernel::~InspectionKernel() {
  cudaStreamSynchronize(stream_);
  cudaFreeHost(host_);
  cudaFree(device_);
}

Inspected InspectionKernel::Inspect(std::span<const Inspection> inspections) {
  Inspected inspected;
  while (!inspections.empty() && inspected.status.ok()) {
    const auto some = inspections.first(std::min(inspections.size(), kMostTogether));
    inspected.status = InspectSome(some, inspected.results);
    inspections = inspections.subspan(some.size());
  }
  return inspected;
}

DeviceStatus InspectionKernel::InspectSome(std::span<const Inspection> inspections, std::vector<InspectionResult>& results) {
  auto* requests = static_cast<Request*>(host_);
  std::uint64_t most = 1;
  for (std::size_t i = 0; i < inspections.size(); ++i) {
    const Inspection& one = inspections[i];
    requests[i] = {one.address, one.other, one.bytes, static_cast<int>(one.kind), static_cast<int>(one.dtype), one.exact ? 1 : 0, 0};
    most = std::max(most, one.bytes);
  }
  const auto blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>((most + kBytesPerBlock - 1) / kBytesPerBlock, kMostBlocks));
  const std::size_t parts = inspections.size() * blocks;
  auto* device_parts = static_cast<char*>(device_) + kPartsOffset;
  auto* host_parts = static_cast<char*>(host_) + kPartsOffset;
  cudaError_t error = cudaMemcpyAsync(device_, host_, inspections.size() * sizeof(Request), cudaMemcpyHostToDevice, stream_);
  if (error != cudaSuccess) return ToStatus(error, "cudaMemcpyAsync to the device");
  DeviceLaunch launch;
  launch.grid = {blocks, static_cast<std::uint32_t>(inspections.size()), 1};
  launch.block = {kThreads, 1, 1};
  launch.arguments = {reinterpret_cast<Address>(device_), reinterpret_cast<Address>(device_parts)};
  if (DeviceStatus status = program_->Prepare(launch); !status.ok()) return status;
  if (DeviceStatus status = program_->Enqueue(launch, stream_); !status.ok()) return status;
  error = cudaMemcpyAsync(host_parts, device_parts, parts * sizeof(InspectionResult), cudaMemcpyDeviceToHost, stream_);
  if (error != cudaSuccess) return ToStatus(error, "cudaMemcpyAsync from the device");
  if (DeviceStatus status = ToStatus(cudaStreamSynchronize(stream_), "cudaStreamSynchronize after the launches"); !status.ok()) return status;
  const auto* part = reinterpret_cast<const InspectionResult*>(host_parts);
  for (std::size_t i = 0; i < inspections.size(); ++i) {
    InspectionResult result;
    for (std::uint32_t b = 0; b < blocks; ++b) result.Add(*part++);
    results.push_back(result);
  }
  return {};
}

}  // namespace evo
