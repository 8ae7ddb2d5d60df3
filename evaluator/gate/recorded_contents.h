#pragma once

#include <string>
#include <vector>

#include "evaluator/gate/input_set.h"
#include "evaluator/reference/reference.h"
#include "kernel_templates/task.h"

namespace evo {

// One more input of a case, and the right answers to it, which somebody has recorded (Case::data).
struct RecordedContents {
  DrawnArguments inputs;
  std::vector<std::vector<double>> answers;  // in the order of the arguments; empty for inputs
};

// The contents as bytes for a worker: for each argument its values in its own dtype, then the right ones as doubles. Throws
// UsageError for values that the argument's dtype cannot hold, that are no legal input of the task, or that are no answer.
std::string PackRecorded(const Task& task, const Case& one);
// All cases of the task that have data, by name. Throws as PackRecorded does, and if they are too large together.
std::map<std::string, std::string> PackAllRecorded(const Task& task);
// What PackRecorded made of it. Throws Error if it is not as long as the case is large.
RecordedContents UnpackRecorded(const Task& task, const Case& one, const std::string& packed);

// Gives the answers that were recorded.
class RecordedReference : public Reference {
 public:
  // `contents` must outlive it.
  explicit RecordedReference(const RecordedContents& contents) : contents_(contents) {}
  std::optional<Failure> Compute(Device& device, const Task& task, const Case& sizes, const std::vector<Place>& places) override;

 private:
  const RecordedContents& contents_;
};

}  // namespace evo
