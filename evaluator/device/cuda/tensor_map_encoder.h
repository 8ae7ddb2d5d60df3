#pragma once

#include <array>
#include <cstddef>

#include "evaluator/device/device.h"

namespace evo {

// A tensor map as kernels take it: what the driver calls CUtensorMap.
struct EncodedTensorMap {
  alignas(128) std::array<std::byte, 128> bytes{};
};

// Has the driver write the map. kLaunchError with the map's name where it refuses, kUnsupported where it has no such function.
DeviceStatus Encode(const DeviceTensorMap& map, EncodedTensorMap& encoded);

}  // namespace evo
