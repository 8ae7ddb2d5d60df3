#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_templates/dtype.h"

namespace evo {

// What a scalar is passed as. A bool is a byte that is 0 or 1.
struct ScalarType {
  Dtype dtype = Dtype::kI32;
  bool boolean = false;
  bool operator==(const ScalarType&) const = default;
};

// "f64 f32 .. u8", "bool"; nullopt for anything else.
std::optional<ScalarType> ParseScalarType(std::string_view name);

// One argument of an evo:launch line, as written.
struct LaunchArgumentText {
  enum class Kind {
    kName,        // of an argument, a workspace, a tensor map, a size, a parameter or a loop's step
    kExpression,  // an integer, passed as int
    kCast,        // i64(EXPR): passed as that type
    kStruct,      // {ARG, ARG, ..}: a struct by value with these fields; no field is a struct
  };
  Kind kind = Kind::kExpression;
  std::string text;  // the name or the expression; of a cast what is in the parentheses
  ScalarType type;   // of a cast
  std::vector<LaunchArgumentText> fields;
};

// Throws Error, which says what is wrong but neither file nor line.
LaunchArgumentText ParseLaunchArgument(std::string_view text);

}  // namespace evo
