#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/genome.h"
#include "core/promise.h"

namespace evo::testing {

// The operators of a genome's edits.
inline std::set<std::string> Names(const Genome& genome) {
  std::set<std::string> names;
  for (const Edit& edit : genome.edits) names.insert(edit.op);
  return names;
}

// "e0", "e1", ...
inline std::vector<std::string> Numbered(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("e{}", i));
  return names;
}

// The promises of the edits "e0" to "e99". Those of other names are unproven.
inline Promises NumberedAreExact() {
  Promises promises;
  for (const std::string& name : Numbered(100)) promises[name] = Promise::kExact;
  return promises;
}

// An ok evaluation of one case, measured 20 times with little spread.
inline Evaluation Timed(double ns) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  CaseMeasurement measured;
  measured.median_ns = evaluation.score_ns = ns;
  measured.p10_ns = 0.999 * ns;
  measured.p90_ns = 1.001 * ns;
  measured.samples.resize(20);
  evaluation.cases = {measured};
  return evaluation;
}

}  // namespace evo::testing
