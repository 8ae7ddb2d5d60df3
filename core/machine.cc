#include "core/machine.h"

#include <algorithm>
#include <cmath>

namespace evo {
namespace {

// The share of the floor that is believed, since the kernels that measured the machine may have missed its true peak rates.
constexpr double kBelieved = 0.75;

}  // namespace

double FloorNs(const MachineState& machine, double bytes, double operations) {
  if (std::isnan(machine.launch_ns)) return kNoValue;
  double floor = machine.launch_ns;
  if (machine.l2_bytes_per_s > 0 && bytes > 0) floor = std::max(floor, bytes / machine.l2_bytes_per_s * 1e9);
  const double rate = std::fmax(machine.f32_per_s, machine.tensor_per_s);  // the one that is a number, if one is not
  if (rate > 0 && operations > 0) floor = std::max(floor, operations / rate * 1e9);
  return kBelieved * floor;
}

}  // namespace evo
