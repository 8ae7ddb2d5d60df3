#pragma once
#include <filesystem>
#include <memory>
#include "evaluator/device/device.h"
namespace evo {
std::unique_ptr<Device> MakeCudaDevice(int ordinal, const std::filesystem::path& cuda_root, Compiler& compiler);
}
