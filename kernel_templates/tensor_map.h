#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.h"
#include "kernel_templates/dtype.h"

namespace evo {

// `evo:tensormap NAME = BUFFER dims(..) box(..) swizzle(..)`: how Hopper's copy engine sees a buffer. A kernel takes the map by
// value, as `const __grid_constant__` of a type of 128 bytes aligned to 128.
struct TensorMapDirective {
  std::string name;                             // an argument of launches
  std::string buffer;                           // an argument of the task or a workspace
  std::vector<Expression> dims;                 // one to five, the fastest first; elements follow one another without gaps
  std::vector<Expression> box;                  // what one copy brings; as many
  Expression swizzle = Expression::Parse("0");  // bytes: 0, 32, 64 or 128
  int line = 0;
};

// A tensor map for one case. What lies outside of `dims` reads as zero and is not written.
struct TensorMapUse {
  std::string name;
  std::string buffer;
  Dtype dtype = Dtype::kF16;
  std::vector<std::uint64_t> dims;
  std::vector<std::uint32_t> box;
  std::uint32_t swizzle = 0;
  bool operator==(const TensorMapUse&) const = default;
};

// Throws Error: what is wrong, without file or line.
TensorMapDirective ParseTensorMap(std::string_view text);

// Evaluates a map over a buffer of `elements`. Throws Error for what the driver refuses (CUDA driver API,
// cuTensorMapEncodeTiled): an extent of 0 or over 2^32, a box of 0 or over 256, rows that are no multiple of 16 bytes, a box row
// wider than the swizzle, a dtype without a map; and for dims that go past the buffer.
TensorMapUse PlanTensorMap(const TensorMapDirective& map, Dtype dtype, std::int64_t elements, const Variables& variables);

}  // namespace evo
