#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "evaluator/gate/input_set.h"
#include "evaluator/gate/program.h"
#include "evaluator/messages/requests.h"

namespace evo {

// The task's baseline, which is loaded when it first runs. Methods throw InfrastructureFailure where it cannot be loaded.
class BaselineProgram {
 public:
  // `device` and `task` must outlive the object.
  BaselineProgram(Device& device, const Task& task, AttachedProgram program);

  // Whether there is one: it has an image. The others need it.
  bool exists() const { return !program_.program.image.empty(); }
  // Runs it once on a set that has its answer. Throws InfrastructureFailure if it leaves the device unusable.
  std::variant<InputSet::Answer, Failure> Run(InputSet& set);
  // Blocks of its largest launch; 0 if it cannot be launched there.
  std::uint64_t MostBlocks(const Case& sizes);

 private:
  Program& Loaded();

  Device& device_;
  const Task& task_;
  AttachedProgram program_;
  std::optional<Program> loaded_;
};

}  // namespace evo
