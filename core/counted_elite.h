#pragma once

#include <string>

#include "core/bottleneck.h"
#include "core/candidate.h"
#include "core/hardware_counters.h"

namespace evo {

// A candidate of a search that goes on, whose class the hardware's counters have said. It takes the place of the one that was
// found without them.
struct CountedElite {
  CandidateId candidate = 0;
  Bottleneck bottleneck = Bottleneck::kNone;
  std::string evidence;  // one line
  HardwareCounters counters;
};

}  // namespace evo
