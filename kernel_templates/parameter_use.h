#pragma once

#include <string_view>

namespace evo {

// Whether a rendered text uses one of its parameters: in code, a launch line or a comment, which may go on with a launch line.
// What declares and defines the parameter, constraints, and a constant made of it that nothing uses do not count. An edit that
// replaces a kernel's body may leave parameters that have no effect any more.
bool IsParameterUsed(std::string_view text, std::string_view name);

}  // namespace evo
