#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "import/host_expression.h"

namespace evo {

// Adds the names that lengths lose: K of `(width - K + 1) * 4`.
void CollectWindows(const HostExpression& expression, std::set<std::string>& names);
// Adds the names by which numbers are shifted to the left: k of `1 << k`.
void CollectExponents(const HostExpression& expression, std::set<std::string>& names);

// Whether a size is called as the elements of one head of an attention are.
bool IsHeadDepth(const std::string& name);

// What a size may be of which the host says nothing, if these are exponents and the widths of windows.
std::int64_t GuessOfSize(const std::string& name, const std::set<std::string>& exponents, const std::set<std::string>& windows);

}  // namespace evo
