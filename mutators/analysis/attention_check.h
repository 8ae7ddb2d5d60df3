#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/thread_run.h"

namespace evo {

// Which parameters of a kernel are the matrices of an attention, and what it does with them.
struct AttentionRoles {
  int q = -1, k = -1, v = -1, o = -1;
  std::int64_t depth = 0;
  bool causal = false;
  std::string scale;  // as an expression
};

// Whether a comparison of data with a number (ThreadTrace::limits) holds for all scores and sums: with what every score passes,
// and with the least that weights sum up to.
bool IsLimitVoid(const std::pair<double, double>& limit);
// The roles by which a thread of this row computed what it stored; nullopt if none explain it.
std::optional<AttentionRoles> RolesIn(const ThreadTrace& trace, std::int64_t row);
// Whether a thread of this row computed what these roles say.
bool Computes(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row);
// The rows of keys that it read.
std::int64_t KeysRead(const ThreadTrace& trace, const AttentionRoles& roles);

}  // namespace evo
