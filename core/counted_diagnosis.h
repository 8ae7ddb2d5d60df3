#pragma once

#include <string>

#include "core/diagnosis.h"
#include "core/hardware_counters.h"

namespace evo {

// What most of the time of a program goes into, by the hardware's counters. A pure function. docs/insight.md has the rules in
// their order. kNone if nothing was counted.
Diagnosis DiagnoseCounted(const HardwareCounters& counters);

// Whether counters can say more of a program than this class, which was found without them. That a kernel is short, has few
// blocks, spills or lacks tensor instructions stands in its launches and its code, and counters do not show it.
bool CountersTellMoreThan(Bottleneck bottleneck);

// "DRAM 43%, L2 12%, L1 and shared memory 8%, FMA pipe 3%, issue slots 9%", of those that are counted and not zero.
std::string DescribeRates(const HardwareCounters& counters);
// "61% for global memory, 12% for barriers", the longest first, of those that are at least a twentieth.
std::string DescribeWaits(const HardwareCounters& counters);

}  // namespace evo
