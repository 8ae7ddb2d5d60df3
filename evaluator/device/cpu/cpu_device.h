#pragma once

#include <memory>

#include "evaluator/device/device.h"

namespace evo {

// The device for machines without a GPU. Kernels are compiled by the host compiler, run by the SIMT runtime on the calling
// thread, and timed with that thread's CPU clock; wall time is reported, too. A kernel that crashes takes the process with it.
std::unique_ptr<Device> MakeCpuDevice();

}  // namespace evo
