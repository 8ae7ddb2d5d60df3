#pragma once

#include <optional>

#include "import/host_expression.h"

namespace evo {

// The ceil_div or ceil_log that an expression is in one of the ways in which programs round up, `(a + b - 1) / b`,
// `a % b == 0 ? a / b : a / b + 1`; nullopt for others. Its parts are simplified.
std::optional<HostExpression> RoundedUp(const HostExpression& part);

}  // namespace evo
