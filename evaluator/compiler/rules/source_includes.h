#pragma once

#include <string_view>

namespace evo {

// Whether a candidate may include this: `<NAME>`, as it stands after the word include, of a header that has device code for every
// compiler. Headers of the host's system are not among them.
bool IsAllowedInclude(std::string_view text);

}  // namespace evo
