#pragma once

#include <cuda_runtime_api.h>

#include "evaluator/device/device.h"

namespace evo {

// Memory from cudaMalloc, aligned to 256 bytes or more. Copies and fills use the device's only stream and are complete on return.
class CudaMemory : public DeviceMemory {
 public:
  explicit CudaMemory(cudaStream_t stream) : stream_(stream) {}
  Address Allocate(std::size_t bytes) override;
  void Free(Address address) override;
  DeviceStatus Write(Address to, std::span<const std::byte> from) override;
  DeviceStatus Read(std::span<std::byte> to, Address from) override;
  DeviceStatus Fill(const DeviceFill& fill) override;
  DeviceStatus Copy(const DeviceCopy& copy) override;

 private:
  DeviceStatus Wait(cudaError_t begun, const char* call);

  cudaStream_t stream_;
};

inline void* ToPointer(Address address) { return reinterpret_cast<void*>(address); }

}  // namespace evo
