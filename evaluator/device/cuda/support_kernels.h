#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

#include "evaluator/device/cuda/cuda_program.h"

namespace evo {

// Our own kernels, which run before a timed kernel. Compiled when the device is opened; throws Error if that fails.
class SupportKernels {
 public:
  SupportKernels(const DeviceInfo& device, Compiler& compiler, cudaStream_t stream);
  ~SupportKernels();
  SupportKernels(const SupportKernels&) = delete;
  SupportKernels& operator=(const SupportKernels&) = delete;

  // Makes the stream wait until Release, at most about 80 ms. Work that is enqueued meanwhile then runs without waiting for the
  // host, whose launches take longer than a short kernel.
  DeviceStatus Hold();
  void Release();
  DeviceStatus Touch(const DeviceTouch& touch);
  // Fills the shared memory of every multiprocessor, so that it carries nothing from one launch to the next.
  DeviceStatus ScrubShared();
  // Runs so much code of its own on every scheduler that the next kernel's code must be fetched again.
  DeviceStatus DisplaceCode();
  // Runs for a time that grows with `steps`.
  DeviceStatus Tick(std::uint32_t steps);

  const std::string& hold_symbol() const;
  const std::string& touch_symbol() const;
  const std::string& scrub_symbol() const;
  const std::string& displace_symbol() const;
  const std::string& tick_symbol() const;

 private:
  DeviceStatus Launch(const DeviceLaunch& launch);

  const DeviceInfo& device_;
  cudaStream_t stream_;
  std::unique_ptr<CudaProgram> program_;
  volatile int* released_ = nullptr;  // in host memory that the device sees
};

}  // namespace evo
