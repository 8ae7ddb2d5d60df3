#pragma once

#include <string>
#include <string_view>

namespace evo {

// The text to put before a source so that clang precompiles its includes once for all children of a template. It consists of
// declarations that clang's headers lack, the directives up to the last #include, one per line and without comments, and a
// declaration that ends clang's preamble. Without that end the preamble would include the launch comments and parameter blocks,
// which differ between children. Ends with a line end. Never empty, because clang precompiles CUDA's own headers only as part of
// a preamble.
std::string PreambleOf(std::string_view text);

}  // namespace evo
