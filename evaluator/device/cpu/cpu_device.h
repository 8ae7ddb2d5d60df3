#pragma once

#include <memory>

#include "evaluator/device/device.h"

namespace evo {

// The device where there is no GPU: kernels compiled by the host compiler, run by the SIMT runtime on the calling thread, timed
// by that thread's CPU clock (wall time beside it). A kernel that runs wild takes the process with it.
std::unique_ptr<Device> MakeCpuDevice();

}  // namespace evo
