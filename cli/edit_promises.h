#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/genome.h"

namespace evo {

// What the operators that made a kernel's edits promise, as one sentence without a full stop: "unproven edits: statement_delete
// in softmax_naive", "all edits are proven: exact, reassociating" or "no edits".
std::string DescribePromises(const Genome& genome);

// The unproven edits: position among the edits, operator, and function, which is empty at file scope.
nlohmann::ordered_json UnprovenJson(const Genome& genome);

// How many there are.
int CountUnproven(const Genome& genome);

}  // namespace evo
