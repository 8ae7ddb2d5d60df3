#include "evaluator/device/cuda/cuda_devices.h"

#include <fmt/format.h>

namespace evo {
namespace {

std::string WhyNone(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver: {
      int version = 0;
      // Without any driver the version is 0.
      if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) {
        return "no NVIDIA driver (libcuda.so.1) is installed here: install one, or use --device cpu";
      }
      return fmt::format("the NVIDIA driver takes CUDA {}.{} at most, evo needs {}.{}: update the driver, or use --device cpu",
                         version / 1000, version % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    }
    case cudaErrorStubLibrary:
      return "libcuda.so.1 is the toolkit's stub: take the stubs folder out of LD_LIBRARY_PATH, or use --device cpu";
    case cudaErrorNoDevice:
      return "the NVIDIA driver finds no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu";
    default:
      return fmt::format("the CUDA driver does not start, {} ({}, {}): check nvidia-smi, or use --device cpu",
                         cudaGetErrorString(error), cudaGetErrorName(error), static_cast<int>(error));
  }
}

}  // namespace

std::string UuidText(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string ArchName(int major, int minor) { return fmt::format("sm_{}{}{}", major, minor, major == 9 && minor == 0 ? "a" : ""); }

CudaDevices ListCudaDevices() {
  CudaDevices found;
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0)
    found.driver = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (error != cudaSuccess || count == 0) {
    found.why_none = WhyNone(error == cudaSuccess ? cudaErrorNoDevice : error);
    return found;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) continue;
    found.devices.push_back(
        {ordinal, properties.name, properties.major, properties.minor, ArchName(properties.major, properties.minor)});
  }
  if (found.devices.empty()) found.why_none = WhyNone(cudaGetLastError());
  return found;
}

}  // namespace evo
