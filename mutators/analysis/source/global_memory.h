#pragma once

#include <string_view>

#include "kernel_templates/kernel_template.h"
#include "syntax/syntax_tree.h"

namespace evo {

// Whether a pointer expression points into global memory that no thread writes while the kernel runs. It must be derived, by
// pointer arithmetic, casts and local pointers to const, from a kernel parameter `const T*` or, in a device function, from a
// parameter for which every call in the file passes such a pointer. `rendered` tells whether a launch passes the same buffer
// twice.
bool IsReadOnlyGlobal(const SyntaxTree& tree, const KernelTemplate& rendered, int pointer);

// The same for global memory that may be written.
bool IsGlobal(const SyntaxTree& tree, const KernelTemplate& rendered, int pointer);

// Whether some launch passes the argument of this kernel parameter for another parameter, too.
bool IsPassedTwice(const SyntaxTree& tree, const KernelTemplate& rendered, int parameter);

// Whether CUDA declares its loads and stores with cache hints (__ldg, __stcs) for a type.
bool IsLoadable(std::string_view type);

}  // namespace evo
