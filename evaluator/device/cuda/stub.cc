#include "evaluator/device/cuda/cuda_device.h"
#include "evaluator/device/cuda/cuda_devices.h"
#include "core/error.h"
namespace evo {
std::unique_ptr<Device> MakeCudaDevice(int, const std::filesystem::path&, Compiler&) { throw Error("no CUDA device"); }
}
