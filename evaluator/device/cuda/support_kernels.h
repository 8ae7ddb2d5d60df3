#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

#include "evaluator/device/cuda/cuda_program.h"

namespace evo {

// Our own kernels, run before what is timed. Compiled when the device is opened; throws Error if that fails.
class SupportKernels {
 public:
  SupportKernels(const DeviceInfo& device, Compiler& compiler, cudaStream_t stream);
  ~SupportKernels();
  SupportKernels(const SupportKernels&) = delete;
  SupportKernels& operator=(const SupportKernels&) = delete;

  // Makes the stream wait until Release, at most about 80 ms: whatever is enqueued meanwhile then runs without waiting for the
  // host, whose launches take longer than a short kernel runs.
  DeviceStatus Hold();
  void Release();
  DeviceStatus Touch(const DeviceTouch& touch);
  // Fills the shared memory of every multiprocessor, so that nothing can be carried in it from one launch to the next.
  DeviceStatus ScrubShared();
  // Runs code that nobody else runs on every scheduler, so much that the next kernel's has to be fetched again.
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
