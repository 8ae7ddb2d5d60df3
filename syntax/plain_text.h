#pragma once

#include <optional>
#include <string>

namespace evo {

// The same source with its macro calls written out and each function template that it uses with one list of arguments as a
// function, also in its evo:launch lines: what code that analyses kernels can look into. Macros that stand for a constant of
// integers stay, since parameters are such macros; so do those that are defined under a condition or more than once, and those
// with `#` or `...`. Products of 24 bits are plain products, stores that say how they are cached plain stores, and
// `sizeof(float)` is `4ul`. nullopt if nothing changes.
std::optional<std::string> PlainText(const std::string& text);

}  // namespace evo
