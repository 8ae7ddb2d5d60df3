#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.h"
#include "kernel_templates/dtype.h"

namespace evo {

// `evo:tensormap NAME = BUFFER type(..) dims(..) box(..) swizzle(..)`: a buffer as Hopper's copy engine addresses it. A kernel
// takes the map by value, as a `const __grid_constant__` parameter of a type with 128 bytes and an alignment of 128.
struct TensorMapDirective {
  std::string name;                             // an argument of launches
  std::string buffer;                           // an argument of the task or a workspace
  std::optional<Dtype> dtype;                   // what the buffer's bytes are elements of; its own dtype without one
  std::vector<Expression> dims;                 // one to five values, the contiguous dimension first; there are no gaps
  std::vector<Expression> box;                  // the elements of one copy; as many values as dims
  Expression swizzle = Expression::Parse("0");  // bytes: 0, 32, 64 or 128
  int line = 0;
};

// A tensor map for one case. Elements outside of `dims` read as zero and are not written.
struct TensorMapUse {
  std::string name;
  std::string buffer;
  Dtype dtype = Dtype::kF16;
  std::vector<std::uint64_t> dims;
  std::vector<std::uint32_t> box;
  std::uint32_t swizzle = 0;
  bool operator==(const TensorMapUse&) const = default;
};

// Throws Error, which says what is wrong but neither file nor line.
TensorMapDirective ParseTensorMap(std::string_view text);

// Evaluates a map over a buffer of `elements` of `dtype`. Throws Error for what the driver rejects (CUDA driver API,
// cuTensorMapEncodeTiled): an extent of 0 or over 2^32, a box of 0 or over 256, rows that are not a multiple of 16 bytes, and a
// box row wider than the swizzle. Throws Error, too, for dims that go past the end of the buffer.
TensorMapUse PlanTensorMap(const TensorMapDirective& map, Dtype dtype, std::int64_t elements, const Variables& variables);

}  // namespace evo
