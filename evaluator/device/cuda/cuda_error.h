#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "evaluator/device/device.h"

namespace evo {

// "cudaMemcpy: an illegal memory access was encountered (cudaErrorIllegalAddress, 700)"
std::string Describe(cudaError_t error, const char* call);

// What a CUDA error means for the candidate that ran. Sticky where the context is lost: illegal addresses, traps, assertions.
// Clears the error where that can be done.
DeviceStatus ToStatus(cudaError_t error, const char* call);

// For calls that do not depend on a candidate: throws Error.
void Require(cudaError_t error, const char* call);

}  // namespace evo
