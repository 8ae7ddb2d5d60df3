#pragma once

#include <string>
#include <string_view>

#include "core/bottleneck.h"
#include "core/evaluation.h"
#include "core/machine.h"
#include "core/occupancy.h"

namespace evo {

// What is known of the device on which a candidate was timed.
struct DiagnosedDevice {
  MachineState machine;     // its rates
  std::string arch;         // "sm_90a"
  int multiprocessors = 0;  // 0: not known
  bool cold = false;        // L2 was flushed before each launch
  bool half = false;        // the task's inputs are f16 or bf16
};

// Whether that is the name of a type of 16 bits, which tensor cores multiply: "f16", "bf16".
bool IsHalf(std::string_view arithmetic);

// The shares of the best rates that our own kernels measured on the machine, 0 to 1; kNoValue: not known.
struct RateShares {
  double memory = kNoValue;      // of DRAM, or of L2 where it holds everything and is not flushed
  bool of_l2 = false;            // which of the two
  double arithmetic = kNoValue;  // of tensor cores where the code has such instructions, else of the FMA pipes
  bool of_tensor = false;
};
RateShares SharesOf(const InstructionMix& mix, const CaseMeasurement& measured, const DiagnosedDevice& device);

struct Diagnosis {
  Bottleneck bottleneck = Bottleneck::kNone;
  std::string evidence;  // one line: "87% of the peak DRAM bandwidth"
};

// What most of the time of a program goes into, from what is known without counters. A pure function. docs/insight.md has the
// rules in their order. kNone if the program was not timed.
Diagnosis Diagnose(const KernelFacts& facts, const CaseMeasurement& measured, const DiagnosedDevice& device);

// Of an evaluation that is ok: that of the case with the greatest weight, of these the longest. kNone for others and for
// the cpu device.
Diagnosis Diagnose(const Evaluation& evaluation, const DiagnosedDevice& device);

// "12 of 48 warps: limited by registers"; empty where it is not known. `arch` as in DiagnosedDevice.
std::string DescribeOccupancy(const Evaluation& evaluation, std::string_view arch);

}  // namespace evo
