#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

class SupportKernels;

// Memory from cudaMalloc, aligned to 256 bytes or more. Copies and fills use the device's only stream and are complete on return.
// Allocations take whole pages, since the driver puts smaller ones into pages whose rest nobody could watch. Pages that are free
// are kept for the next allocation of their size and hold a pattern. With `exact`, every allocation is as large as it was asked
// for, so that a tool sees an access behind its end.
class CudaMemory : public DeviceMemory {
 public:
  CudaMemory(cudaStream_t stream, bool exact) : stream_(stream), exact_(exact) {}
  ~CudaMemory() override;
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  // To be called before Poison and before anything is freed.
  void Use(SupportKernels& support) { support_ = &support; }
  BufferLayout layout() const override;
  // Inspections of the free pages that are kept.
  std::vector<Inspection> Unused() const;

  Address Allocate(std::size_t bytes) override;
  void Free(Address address) override;
  DeviceStatus Write(Address to, std::span<const std::byte> from) override;
  DeviceStatus Read(std::span<std::byte> to, Address from) override;
  DeviceStatus Fill(const DeviceFill& fill) override;
  DeviceStatus Poison(const DevicePoison& poison) override;
  DeviceStatus Copy(const DeviceCopy& copy) override;

 private:
  DeviceStatus Wait(cudaError_t begun, const char* call);

  struct FreePages {
    Address address;
    std::uint64_t seed;  // of the pattern that they hold
  };

  cudaStream_t stream_;
  bool exact_;
  SupportKernels* support_ = nullptr;
  std::map<Address, std::size_t> allocated_;              // bytes
  std::map<std::size_t, std::vector<FreePages>> unused_;  // by bytes
  std::uint64_t freed_ = 0;
};

inline void* ToPointer(Address address) { return reinterpret_cast<void*>(address); }

}  // namespace evo
