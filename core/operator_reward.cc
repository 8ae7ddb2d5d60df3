#include "core/operator_reward.h"

#include <algorithm>
#include <cmath>

namespace evo {

void AddChild(OperatorReward& reward, bool fresh, double parent_ns, double child_ns) {
  ++reward.tries;
  if (!fresh) return;
  ++reward.fresh;
  if (child_ns < parent_ns) reward.log_gain += std::min(1.0, std::log(parent_ns / child_ns));
}

}  // namespace evo
