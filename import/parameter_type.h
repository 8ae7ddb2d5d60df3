#pragma once

#include <optional>
#include <string>

#include "kernel_templates/launch_argument.h"

namespace evo {

// A type of a kernel's parameter, as far as it can be compared with what is passed.
struct ParameterType {
  enum class Kind { kReal, kInteger, kBool, kRecord, kUnknown };
  Kind kind = Kind::kUnknown;  // of what is pointed to, if it is a pointer
  bool pointer = false;
  bool vector = false;  // float4: `dtype` is that of its elements
  Dtype dtype = Dtype::kI32;
  std::string record;  // the name of a struct or class without its namespaces
};

// Of a canonical type: "const float *__restrict", "unsigned int", "lib::Settings".
ParameterType ParseParameterType(const std::string& canonical);

// Whether a kernel may take a buffer of this dtype by a pointer of that type. Bytes may be read as anything, and 8 and 16 bits
// in packs of more; otherwise an element has the dtype, or as many bits in an integer.
bool TakesBuffer(const ParameterType& type, Dtype dtype);

// Whether a scalar can be passed as this type: the driver copies its bytes and converts nothing.
bool TakesScalar(const ParameterType& type, const ScalarType& scalar);

// The name in a launch line of the type that is expected, "i64"; nullopt if there is none.
std::optional<std::string> ScalarNameOf(const ParameterType& type);

}  // namespace evo
