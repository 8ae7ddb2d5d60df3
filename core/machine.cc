#include "core/machine.h"

#include <algorithm>
#include <cmath>

namespace evo {
namespace {

// Share of the measured time that is accepted: the device may be faster than our own kernels found.
constexpr double kAcceptedShare = 0.75;

}  // namespace

double FloorNs(const MachineState& machine, double bytes, double operations) {
  if (std::isnan(machine.launch_ns)) return kNoValue;
  double floor = machine.launch_ns;
  if (machine.l2_bytes_per_s > 0 && bytes > 0) floor = std::max(floor, bytes / machine.l2_bytes_per_s * 1e9);
  const double rate = std::fmax(machine.f32_per_s, machine.tensor_per_s);  // ignores a NaN
  if (rate > 0 && operations > 0) floor = std::max(floor, operations / rate * 1e9);
  return kAcceptedShare * floor;
}

}  // namespace evo
