#pragma once

#include <string>

#include "core/evaluation.h"
#include "core/record_fields.h"

namespace evo {

// What a run worker is about to run beyond the cases of the task, as its begin marker says: if it dies there, this tells whose
// launch that was.
struct AnnouncedRun {
  Counterexample on;         // unlisted sizes, or hard inputs; without a case name: neither, and the candidate is to blame
  bool of_baseline = false;  // the baseline or the reference runs there; otherwise the candidate
  double baseline_ms = 0;    // before a candidate's run: what the baseline took there
  bool large = false;        // one of the sizes is larger than the task lists it
  std::string part{};        // of the stage: "case a, generator 1"; empty: the stage has no parts
};
BOOST_DESCRIBE_STRUCT(AnnouncedRun, (), (on, of_baseline, baseline_ms, large, part))

// Sizes or inputs that are not tried again: the baseline has ended a worker there.
struct AvoidedInputs {
  Counterexample on;  // the seed does not matter
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(AvoidedInputs, (), (on, reason))

}  // namespace evo
