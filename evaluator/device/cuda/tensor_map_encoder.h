#pragma once

#include <array>
#include <cstddef>

#include "evaluator/device/device.h"

namespace evo {

// A tensor map as kernels take it; the driver's name is CUtensorMap.
struct EncodedTensorMap {
  alignas(128) std::array<std::byte, 128> bytes{};
};

// Lets the driver encode the map. kLaunchError, with the map's name, where the driver rejects it; kUnsupported where the driver
// has no such function.
DeviceStatus Encode(const DeviceTensorMap& map, EncodedTensorMap& encoded);

}  // namespace evo
