#pragma once

namespace evo {

// The reward of an operator. Its children: those that were evaluated; a draw that did not apply is none.
struct OperatorReward {
  double tries = 0;     // children
  double fresh = 0;     // of those, valid with another program than their first parent's
  double log_gain = 0;  // sum of ln(parent's time / child's time) over the fresh ones that were faster
};

// Adds one child. Times in ns, ignored unless the child is fresh; one child counts for a gain of e at most, so that a single
// stroke of luck does not decide a run.
void AddChild(OperatorReward& reward, bool fresh, double parent_ns, double child_ns);

}  // namespace evo
