#pragma once

#include <cstdint>

#include "core/rng.h"
#include "evaluator/gate/input_change.h"

namespace evo {

// The argument that a change is for, as far as its numbers depend on it.
struct ChangeScope {
  Rows rows;
  bool real = true;
  std::int64_t bound = 1;  // of the integers' generator
};

// A legal number of that role for a change of that kind. Values and factors are mostly of everyday size, sometimes tiny, huge,
// zero or infinite; places are mostly at the ends of rows and of warps and blocks.
double DrawNumber(NumberRole role, InputChange::Kind kind, const ChangeScope& scope, Rng& rng);

// A legal number near this one: scaled, with the other sign, a place further; now and then a new one.
double PerturbNumber(double number, NumberRole role, InputChange::Kind kind, const ChangeScope& scope, Rng& rng);

// The number with that many significant digits.
double RoundToDigits(double number, int digits);

}  // namespace evo
