#pragma once

#include <map>
#include <string>

namespace evo {

// The reward of an operator. Only evaluated children count; a draw of an operator that did not apply does not.
struct OperatorReward {
  double tries = 0;     // children
  double fresh = 0;     // valid children whose program differs from their first parent's
  double log_gain = 0;  // sum of ln(parent's time / child's time) over the fresh ones that were faster
};

// Of operators by name, for each bottleneck of the parents that has children, by its name in the database.
using RewardsByBottleneck = std::map<std::string, std::map<std::string, OperatorReward>>;

// Adds one child. The times, in ns, are ignored unless the child is fresh. A child counts at most as a speed-up by a factor of e,
// so that one lucky child does not decide a run.
void AddChild(OperatorReward& reward, bool fresh, double parent_ns, double child_ns);

}  // namespace evo
