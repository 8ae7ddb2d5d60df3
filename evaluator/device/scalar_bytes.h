#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "kernel_templates/launch_plan.h"

namespace evo {

// A scalar argument as a kernel takes it: the first `size` bytes, aligned for any dtype.
struct ScalarBytes {
  alignas(8) std::array<std::byte, 8> bytes{};
  std::size_t size = 0;
};

// nullopt where the value does not fit: an integer out of the dtype's range, a fraction for an integer dtype.
std::optional<ScalarBytes> ToBytes(const ScalarUse& scalar);

}  // namespace evo
