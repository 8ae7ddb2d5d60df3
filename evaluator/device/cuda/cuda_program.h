#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

// A cubin on the device. Launches go to the caller's stream.
class CudaProgram : public LoadedProgram {
 public:
  CudaProgram(const DeviceInfo& device, int max_warps_per_multiprocessor)
      : device_(device), max_warps_(max_warps_per_multiprocessor) {}
  ~CudaProgram() override;
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;

  // To be called once, before all other methods; see Device::Load. kLaunchError if the image is not for this device or lacks a
  // kernel.
  DeviceStatus Load(const CompiledProgram& program, std::size_t placements = 1);

  // Checks a launch against the limits of device and kernel, and raises the kernel's attributes where needed. Does not launch.
  DeviceStatus Prepare(const DeviceLaunch& launch);
  // Moves to the next load address for the launches that follow. All kernels of a sequence are launched at one, since they may
  // share variables of the module.
  void NextPlace() { ++turn_; }
  // Precondition: Prepare(launch) was ok. Does not wait.
  DeviceStatus Enqueue(const DeviceLaunch& launch, cudaStream_t stream);
  // A kernel of ours, whose arguments and shape are known to fit. Does not wait.
  DeviceStatus EnqueueRaw(std::size_t kernel, dim3 grid, dim3 block, void** arguments, cudaStream_t stream);

  std::vector<DeviceRange> State() const override { return state_; }
  std::vector<DeviceRange> Places(const std::string& symbol) const override;

  // The most local memory that a thread of one of its kernels has.
  std::size_t local_bytes() const;
  const std::string& image() const { return image_; }
  bool Has(const std::string& symbol) const;
  const std::string& symbol(std::size_t kernel) const { return kernels_[kernel].symbol; }
  // The largest over all kernels; dynamic shared memory and occupancy are those of each kernel's last prepared launch.
  KernelFacts facts() const override;

 private:
  struct Kernel {
    std::string symbol;
    std::vector<cudaKernel_t> placements;  // the same code at several addresses
    cudaFuncAttributes attributes{};
    std::vector<std::size_t> parameter_bytes;
    std::uint64_t raised_shared_bytes = 0;
    bool launched = false;
    int last_threads = 0;
    std::uint64_t last_shared_bytes = 0;
  };

  DeviceStatus FindKernels(cudaLibrary_t library);
  DeviceStatus FindSection(cudaLibrary_t library, const ImageSection& section);
  DeviceStatus CheckShape(const Kernel& kernel, const DeviceLaunch& launch) const;
  DeviceStatus CheckArguments(const Kernel& kernel, const DeviceLaunch& launch) const;
  DeviceStatus RaiseAttributes(Kernel& kernel, const DeviceLaunch& launch) const;
  DeviceStatus Launch(const Kernel& kernel, const cudaLaunchConfig_t& config, void** arguments) const;
  double Occupancy(const Kernel& kernel) const;

  const DeviceInfo& device_;
  int max_warps_;
  std::size_t turn_ = 0;
  std::string image_;
  std::vector<cudaLibrary_t> libraries_;  // of one image, each at an address of its own
  std::vector<Kernel> kernels_;
  std::vector<DeviceRange> state_;  // of the image's sections, at every load address
  std::vector<std::string> names_;  // of the variables in `state_`, likewise
};

}  // namespace evo
