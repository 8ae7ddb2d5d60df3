#include "evaluator/device/cuda/cuda_error.h"

#include <fmt/format.h>

#include "core/error.h"

namespace evo {

std::string Describe(cudaError_t error, const char* call) {
  return fmt::format("{}: {} ({}, {})", call, cudaGetErrorString(error), cudaGetErrorName(error), static_cast<int>(error));
}

DeviceStatus ToStatus(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();
  DeviceStatus status{Outcome::kLaunchError, Describe(error, call), false};
  switch (error) {
    case cudaErrorMemoryAllocation:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorInvalidClusterSize:
      status.outcome = Outcome::kResourceLimit;
      return status;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorSymbolNotFound:
      return status;
    case cudaErrorLaunchTimeout:
      status.outcome = Outcome::kTimeout;
      status.sticky = true;
      return status;
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
      status.outcome = Outcome::kCrash;
      status.sticky = true;
      return status;
    default:
      // An error that the next call still reports has destroyed the context.
      if (cudaDeviceSynchronize() != cudaSuccess) {
        status.outcome = Outcome::kCrash;
        status.sticky = true;
      }
      cudaGetLastError();
      return status;
  }
}

void Require(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw Error(Describe(error, call) + "; see `evo doctor`");
}

}  // namespace evo
