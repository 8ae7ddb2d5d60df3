#pragma once

#include <functional>
#include <string>

#include "core/breeder.h"
#include "core/rng.h"

namespace evo {

// Draws operators of a request by weight, without replacement, until `apply(name)` makes the child; notes in the child those that
// did not apply, or why there is no child at last.
void DrawOperators(const BreedRequest& request, Rng& rng, BredChild& child, const std::function<bool(const std::string&)>& apply);

}  // namespace evo
