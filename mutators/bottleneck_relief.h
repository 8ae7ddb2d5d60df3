#pragma once

#include <map>
#include <string>

#include "core/bottleneck.h"

namespace evo {

// Which operators relieve which bottleneck: how many times the usual reward is expected of an operator on a parent with that
// bottleneck, until children of such parents say otherwise. Operators that are not named have a factor of 1.
std::map<Bottleneck, std::map<std::string, double>> Reliefs();

}  // namespace evo
