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
  SupportKernels(const DeviceInfo& device, int max_warps_per_multiprocessor, Compiler& compiler, cudaStream_t stream);
  ~SupportKernels();
  SupportKernels(const SupportKernels&) = delete;
  SupportKernels& operator=(const SupportKernels&) = delete;

  // Makes the stream wait until Release, at most about 80 ms. Work that is enqueued meanwhile then runs without waiting for the
  // host, whose launches take longer than a short kernel.
  DeviceStatus Hold();
  void Release();
  DeviceStatus Touch(const DeviceTouch& touch);
  // Fills the shared memory of every multiprocessor, so that it carries nothing from one launch to the next.
  DeviceStatus ScrubShared(const DevicePattern& pattern);
  // Fills local memory on every multiprocessor with the pattern of the last ScrubShared, at least as far as a program with that
  // many bytes a thread can reach. Precondition: no more than kMostLocalBytes.
  static constexpr std::size_t kMostLocalBytes = 65536;
  DeviceStatus ScrubLocal(std::size_t local_bytes);
  DeviceStatus Poison(const DevicePoison& poison);
  // Runs so much code of its own on every scheduler that the next kernel's code must be fetched again.
  DeviceStatus DisplaceCode();
  // Runs for a time that grows with `steps`.
  DeviceStatus Tick(std::uint32_t steps);

  const std::string& hold_symbol() const;
  const std::string& touch_symbol() const;
  const std::string& scrub_symbol() const;
  const std::string& displace_symbol() const;
  const std::string& tick_symbol() const;
  const std::string& poison_symbol() const;
  const std::string& scrub_local_symbol(std::size_t local_bytes) const;

 private:
  DeviceStatus Launch(const DeviceLaunch& launch);
  static std::size_t LocalKernel(std::size_t local_bytes);

  const DeviceInfo& device_;
  int max_warps_;
  cudaStream_t stream_;
  std::unique_ptr<CudaProgram> program_;
  DevicePattern pattern_;
  volatile int* released_ = nullptr;  // in host memory that the device sees
};

}  // namespace evo
