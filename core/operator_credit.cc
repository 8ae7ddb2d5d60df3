#include "core/operator_credit.h"

#include <algorithm>
#include <cmath>

namespace evo {

void AddChild(OperatorCredit& credit, bool fresh, double parent_ns, double child_ns) {
  ++credit.tries;
  if (!fresh) return;
  ++credit.fresh;
  if (child_ns < parent_ns) credit.log_gain += std::min(1.0, std::log(parent_ns / child_ns));
}

}  // namespace evo
