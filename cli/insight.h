#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/machine.h"
#include "core/store.h"

namespace evo {

// "latency bound: occupancy 0.12, limited by registers; 10% of the peak DRAM bandwidth". Says so where it is not known (the cpu
// device) or "not recorded" (an older evo evaluated it); empty for a candidate that is not ok.
std::string DescribeBottleneck(const Evaluation& evaluation);
// "210 instructions: 4 stores, 8 barriers, 120 float, 40 integer", of those that occur; empty if it is not known.
std::string DescribeMix(const InstructionMix& mix);

// Finds the bottleneck of a candidate that an older evo evaluated, from what that stored: without machine code, and without the
// number of multiprocessors. `machines`: the rates that were measured in the run.
void DiagnoseOlder(Evaluation& evaluation, const RunRecord& run, const std::vector<MachineState>& machines);

// The line "bottleneck"; nothing where it would be empty.
void PrintBottleneck(std::FILE* out, const Evaluation& evaluation);
// The lines "occupancy", "code" and "bottleneck" of what is known. `arch`: what the run compiled for.
void PrintInsight(std::FILE* out, const Evaluation& evaluation, const std::string& arch);

}  // namespace evo
