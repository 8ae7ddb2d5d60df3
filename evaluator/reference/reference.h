#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "evaluator/gate/launch_binding.h"
#include "evaluator/gate/program.h"
#include "kernel_templates/task.h"

namespace evo {

// What computes the right answers to inputs.
class Reference {
 public:
  // Where an argument of a case lies.
  struct Place {
    const Argument* argument = nullptr;
    BufferPlace contents;  // of an in or inout, as drawn; not to be changed. No bytes for an out
    BufferPlace answer;    // of an out or inout, as doubles; holds NaN, or the inout's values. No bytes for an in
  };

  virtual ~Reference() = default;
  // Writes the answers. A Failure is the fault of the reference or of the device, never of a candidate; `of_reference` in it says
  // that it has no answer to these inputs, and that it can be asked for others.
  virtual std::optional<Failure> Compute(Device& device, const Task& task, const Case& sizes,
                                         const std::vector<Place>& places) = 0;
  // Makes the arguments that task.json derives from others: `contents` holds the others, in the order of the arguments. A Failure
  // as above. A task has such arguments only where its reference is kPython.
  virtual std::optional<Failure> Derive(const Task& /*task*/, const Case& /*sizes*/,
                                        std::vector<std::vector<std::byte>>& /*contents*/) {
    return std::nullopt;
  }
  // How long an answer to the smallest of the inputs takes, in milliseconds: the median. 0 where it is part of the device's work.
  virtual double Milliseconds() const { return 0; }
};

// Kernels that compute in double precision (reference.cu).
class KernelReference : public Reference {
 public:
  // `program` must outlive it.
  explicit KernelReference(Program& program) : program_(program) {}
  std::optional<Failure> Compute(Device& device, const Task& task, const Case& sizes, const std::vector<Place>& places) override;

 private:
  Program& program_;
};

// The task's baseline, whose outputs have their own dtypes: right is what it writes. It runs twice, over memory that held
// different things: where it leaves an element of an output as it was, there is no answer.
class BaselineReference : public Reference {
 public:
  // `program` must outlive it.
  explicit BaselineReference(Program& program) : program_(program) {}
  std::optional<Failure> Compute(Device& device, const Task& task, const Case& sizes, const std::vector<Place>& places) override;

 private:
  Program& program_;
};

}  // namespace evo
