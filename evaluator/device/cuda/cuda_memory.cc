#include "evaluator/device/cuda/cuda_memory.h"

#include <algorithm>

#include "evaluator/device/cuda/cuda_error.h"

namespace evo {

Address CudaMemory::Allocate(std::size_t bytes) {
  void* allocated = nullptr;
  if (cudaMalloc(&allocated, std::max<std::size_t>(bytes, 1)) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return reinterpret_cast<Address>(allocated);
}

void CudaMemory::Free(Address address) {
  // After a crash nothing can be freed, and the process ends soon.
  if (cudaFree(ToPointer(address)) != cudaSuccess) cudaGetLastError();
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
