#pragma once

#include <vector>

#include "import/draft_builder.h"

namespace evo {

// Whether the host gets to one launch before it gets to another, by way of the functions that it calls.
bool IsBefore(const HostCode& host, const HostLaunch& a, const HostLaunch& b);

// Of launches in the host's order the first that writes anything, with all that one of them hands a buffer on to or gets one
// from; a later one if the host copies nothing that these write, as of a launch that warms the device up. Further versions of a
// launch are left out: they overwrite all that it wrote, from the same inputs, before anything has read it.
std::vector<TakenLaunch> LinkedLaunches(const SourceProgram& program, HostCode& host, std::vector<TakenLaunch> launches);

}  // namespace evo
