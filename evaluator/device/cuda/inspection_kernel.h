#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "evaluator/device/cuda/cuda_program.h"

namespace evo {

// Inspects device memory on the device, so that megabytes need not be copied to the host. All inspections take a fill and a
// launch, and sums are taken in a fixed order. Throws Error where it cannot be compiled or there is no memory for its results.
class InspectionKernel {
 public:
  InspectionKernel(const DeviceInfo& device, Compiler& compiler, cudaStream_t stream);
  ~InspectionKernel();
  InspectionKernel(const InspectionKernel&) = delete;
  InspectionKernel& operator=(const InspectionKernel&) = delete;

  // As Device's Inspect, BeginInspection and CollectInspections. Collect waits for everything in the stream.
  Inspected Inspect(std::span<const Inspection> inspections);
  DeviceStatus Begin(std::span<const Inspection> inspections);
  Inspected Collect();

 private:
  DeviceStatus BeginSome(std::span<const Inspection> inspections);
  // Waits, and takes the results out of the memory that the device writes.
  DeviceStatus Drain();

  cudaStream_t stream_;
  std::unique_ptr<CudaProgram> program_;
  void* host_ = nullptr;     // results, page-locked, which the device writes
  std::size_t pending_ = 0;  // of them
  std::vector<InspectionResult> done_;
  void* device_ = nullptr;  // for each inspection how many blocks have ended, then the parts of the results
};

}  // namespace evo
