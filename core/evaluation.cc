#include "core/evaluation.h"

#include <cassert>
#include <cmath>

namespace evo {

double Score(const std::vector<CaseMeasurement>& cases) {
  assert(!cases.empty());
  double weights = 0;
  double logs = 0;
  for (const CaseMeasurement& c : cases) {
    assert(c.median_ns > 0);
    weights += c.weight;
    logs += c.weight * std::log(c.median_ns);
  }
  return std::exp(logs / weights);
}

}  // namespace evo
