#pragma once

#include <string_view>

#include "kernel_templates/kernel_template.h"
#include "syntax/syntax_tree.h"

namespace evo {

// Whether a pointer expression points into global memory that no thread writes while the kernel runs: it comes from a parameter
// `const T*` of a kernel, through pointer arithmetic, casts and constants of the function, or, in a device function, from a
// parameter for which every call in the file passes such a pointer. `rendered` tells whether a launch passes the same buffer
// twice.
bool IsReadOnlyGlobal(const SyntaxTree& tree, const KernelTemplate& rendered, int pointer);

// The same for global memory of any kind: not shared, not a thread's own.
bool IsGlobal(const SyntaxTree& tree, const KernelTemplate& rendered, int pointer);

// Whether some launch passes the argument of this kernel parameter in another place, too.
bool IsPassedTwice(const SyntaxTree& tree, const KernelTemplate& rendered, int parameter);

// Types that CUDA's functions for cached loads and stores (__ldg, __stcs) are declared for.
bool IsLoadable(std::string_view type);

}  // namespace evo
