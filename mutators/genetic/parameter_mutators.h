#pragma once

#include <memory>

#include "mutators/mutator.h"

namespace evo {

// Each gives values that meet the template's constraints and differ from the parent's, or nothing.
std::unique_ptr<Mutator> MakeParameterStep();  // one parameter to a neighbouring value
std::unique_ptr<Mutator> MakeParameterDraw();  // one parameter to any other value
std::unique_ptr<Mutator> MakeParameterMix();   // two or more parameters at once

}  // namespace evo
