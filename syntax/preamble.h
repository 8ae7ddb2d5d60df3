#pragma once

#include <string>
#include <string_view>

namespace evo {

// What is put in front of a text so that clang precompiles its includes once for all children of a template: what clang's own
// headers lack, the directives up to the last #include, one a line, comments left out, and a declaration that ends clang's
// preamble. Without it the preamble would reach over the launch comments and parameter blocks, which differ between children.
// Ends with a line end; never empty, because clang precompiles CUDA's own headers only with a preamble to put them in.
std::string PreambleOf(std::string_view text);

}  // namespace evo
