#pragma once

#include <functional>
#include <memory>

#include "evaluator/messages/requests.h"
#include "evaluator/session/input_pool.h"
#include "evaluator/timer/timer.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// The case that programs are counted on: the one with the greatest weight, of these the one with the most bytes.
const Case& CaseToCount(const InputPool& inputs);

// Counts what programs do on a device, by its hardware counters, and samples where the warps of one wait: on CaseToCount, with
// the inputs and caches of a timed launch. Answers are not checked, and the reference does not run for them.
class EventCount {
 public:
  // All references outlive this.
  EventCount(Device& device, InputPool& inputs, L2State l2, WorkerChannel& channel)
      : device_(device), inputs_(inputs), l2_(l2), channel_(channel) {}

  // The programs of the request, or why they could not be counted: a reason that is no fault of theirs.
  CountedEvents Run(const CountRequest& request);

 private:
  // What `look` sees of the program on the set.
  template <typename Seen>
  Seen LookAt(const AttachedProgram& attached, const Case& sizes, InputSet& set,
              const std::function<Seen(LoadedProgram& program, const TimedRun& run)>& look);

  Device& device_;
  InputPool& inputs_;
  L2State l2_;
  WorkerChannel& channel_;
};

}  // namespace evo
