#include "evaluator/device/cuda/cuda_memory.h"

#include <algorithm>

#include "evaluator/device/cuda/cuda_error.h"
#include "evaluator/device/cuda/support_kernels.h"

namespace evo {
namespace {

// A page of the GPU's virtual memory.
constexpr std::size_t kPageBytes = 2 << 20;
// Allocating and freeing a page takes a tenth of a millisecond, and a candidate's workspaces come and go with each check.
constexpr std::size_t kMostKeptBytes = 8 * kPageBytes;
constexpr std::size_t kMostKept = 4;  // of each size

}  // namespace

CudaMemory::~CudaMemory() {
  for (const auto& [bytes, pages] : unused_) {
    for (const FreePages& one : pages) {
      if (cudaFree(ToPointer(one.address)) != cudaSuccess) cudaGetLastError();
    }
  }
}

BufferLayout CudaMemory::layout() const {
  if (exact_) return {0, 1};
  return {BufferLayout{}.guard_bytes, kPageBytes};
}

Address CudaMemory::Allocate(std::size_t bytes) {
  std::size_t size = std::max<std::size_t>(bytes, 1);
  if (!exact_) size = (size + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (const auto found = unused_.find(size); found != unused_.end() && !found->second.empty()) {
    const Address address = found->second.back().address;
    found->second.pop_back();
    allocated_[address] = size;
    return address;
  }
  void* allocated = nullptr;
  if (size < bytes || cudaMalloc(&allocated, size) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  allocated_[reinterpret_cast<Address>(allocated)] = size;
  return reinterpret_cast<Address>(allocated);
}

void CudaMemory::Free(Address address) {
  const auto found = allocated_.find(address);
  const std::size_t bytes = found == allocated_.end() ? 0 : found->second;
  if (found != allocated_.end()) allocated_.erase(found);
  std::vector<FreePages>& same = unused_[bytes];
  if (!exact_ && support_ != nullptr && bytes > 0 && bytes <= kMostKeptBytes && same.size() < kMostKept) {
    const std::uint64_t seed = MixWord(address, ++freed_);
    if (Poison({address, bytes, {seed, true}}).ok()) {
      same.push_back({address, seed});
      return;
    }
  }
  // After a crash nothing can be freed, and the process ends soon.
  if (cudaFree(ToPointer(address)) != cudaSuccess) cudaGetLastError();
}

std::vector<Inspection> CudaMemory::Unused() const {
  std::vector<Inspection> inspections;
  for (const auto& [bytes, pages] : unused_) {
    for (const FreePages& one : pages)
      inspections.push_back({Inspection::Kind::kPattern, one.address, one.seed, bytes, Dtype::kU8, false});
  }
  return inspections;
}

DeviceStatus CudaMemory::Poison(const DevicePoison& poison) {
  if (poison.bytes == 0) return {};
  if (DeviceStatus status = support_->Poison(poison); !status.ok()) return status;
  return Wait(cudaSuccess, "cudaStreamSynchronize after a fill");
}

DeviceStatus CudaMemory::Write(Address to, std::span<const std::byte> from) {
  if (from.empty()) return {};
  return Wait(cudaMemcpyAsync(ToPointer(to), from.data(), from.size(), cudaMemcpyHostToDevice, stream_),
              "cudaMemcpyAsync to the device");
}

DeviceStatus CudaMemory::Read(std::span<std::byte> to, Address from) {
  if (to.empty()) return {};
  return Wait(cudaMemcpyAsync(to.data(), ToPointer(from), to.size(), cudaMemcpyDeviceToHost, stream_),
              "cudaMemcpyAsync from the device");
}

DeviceStatus CudaMemory::Fill(const DeviceFill& fill) {
  if (fill.bytes == 0) return {};
  return Wait(cudaMemsetAsync(ToPointer(fill.address), fill.value, fill.bytes, stream_), "cudaMemsetAsync");
}

DeviceStatus CudaMemory::Copy(const DeviceCopy& copy) {
  if (copy.bytes == 0) return {};
  return Wait(cudaMemcpyAsync(ToPointer(copy.to), ToPointer(copy.from), copy.bytes, cudaMemcpyDeviceToDevice, stream_),
              "cudaMemcpyAsync on the device");
}

DeviceStatus CudaMemory::Wait(cudaError_t begun, const char* call) {
  if (begun != cudaSuccess) return ToStatus(begun, call);
  return ToStatus(cudaStreamSynchronize(stream_), call);
}

}  // namespace evo
