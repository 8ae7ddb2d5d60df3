#pragma once

#include <span>
#include <vector>

#include "core/rng.h"
#include "evaluator/gate/input_set.h"

namespace evo {

// Copies that write the inputs of a set again in place, as the drawn contents are. As many copies and bytes as FreshContents.
std::vector<DeviceCopy> SameContents(const InputSet& set, Rng& rng);

// Copies that put contents into the inputs of a set that no launch has seen, in place. Each input is made of two pieces of what
// was drawn for the same input of `sources`, so that its values keep their distribution: elements drawn one by one are cut
// anywhere, one-hot rows between two rows, a permutation is rotated, and contents of any other kind are taken whole. All sets are
// of one case and of the first generator; `sources` is not empty.
std::vector<DeviceCopy> FreshContents(const InputSet& set, std::span<const InputSet* const> sources, Rng& rng);

// On the host, what the inputs of the set hold once these copies are made, whatever they hold now.
DrawnArguments ContentsAfter(DeviceMemory& memory, const Task& task, const InputSet& set, std::span<const DeviceCopy> copies);

// Writes the drawn contents into the inputs of the set.
DeviceStatus RestoreContents(DeviceMemory& memory, const InputSet& set);

}  // namespace evo
