#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace evo {

struct CudaDeviceSummary {
  int ordinal = 0;
  std::string name;  // "NVIDIA H200"
  int major = 0;     // compute capability
  int minor = 0;
  std::string arch;  // the compile target: "sm_90a" on 9.0, else "sm_XY"
};

struct CudaDevices {
  std::vector<CudaDeviceSummary> devices;
  std::string driver;    // newest CUDA version that the driver supports, "13.0"; empty without a driver
  std::string why_none;  // empty if there is a device; otherwise one sentence: what is missing and what to do
};

// The CUDA devices that this process sees. Never throws; makes no context.
CudaDevices ListCudaDevices();

// "sm_90a" for 9.0, whose own instructions (wgmma, setmaxnreg) need the "a"; "sm_86" for 8.6.
std::string ArchName(int major, int minor);

// As nvidia-smi writes it: "GPU-8-4-4-4-12 digits".
std::string UuidText(const cudaUUID_t& uuid);

}  // namespace evo
