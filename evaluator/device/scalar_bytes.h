#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

// A scalar argument as a kernel takes it: the first `size` bytes, aligned for any dtype.
struct ScalarBytes {
  alignas(8) std::array<std::byte, 8> bytes{};
  std::size_t size = 0;
};

// nullopt where the value does not fit: an integer out of the dtype's range, a fraction for an integer dtype.
std::optional<ScalarBytes> ToBytes(const ScalarUse& scalar);

// An argument as a kernel takes it. Tensor maps are left to the device that makes them: nullopt, as for a value that does not
// fit.
std::optional<std::vector<std::byte>> ArgumentBytes(const DeviceArgument& argument);

}  // namespace evo
