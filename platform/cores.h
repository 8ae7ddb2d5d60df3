#pragma once

namespace evo {

// How many processor cores this process may keep busy: those that it is allowed to run on (taskset, Slurm, a container's set), or
// fewer if its control group has a quota of processor time. At least 1.
int AvailableCores();

}  // namespace evo
