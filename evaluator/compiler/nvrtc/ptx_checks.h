#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"

namespace evo {

struct PtxObjection {
  Outcome outcome = Outcome::kCheating;  // or kUnsupported
  std::string message;
};

// Says what a candidate's PTX does that it must not do, or nullopt. Comments and strings do not count.
//   kCheating     reads a clock, a timer or a performance counter, by which it could tell timing from checking;
//                 counts its launches (%gridid);
//                 launches kernels or graphs from the device, which the timer would not count.
//   kUnsupported  allocates device memory, whose contents survive from launch to launch;
//                 declares a variable within a function: `static`, or `.global`, `.const` or `.shared` of inline PTX;
//                 calls or uses what it does not define, such as a function of the host.
std::optional<PtxObjection> CheckPtx(std::string_view ptx);

// Symbols of the variables in global and constant memory (`__device__`, `__constant__`) that a PTX text declares outside of
// functions.
std::vector<std::string> VariableNames(std::string_view ptx);

// Names of the kernels (`.entry`) that a PTX text defines, in its order.
std::vector<std::string> EntryNames(std::string_view ptx);

}  // namespace evo
