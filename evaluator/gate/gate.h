#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/input_set.h"
#include "evaluator/gate/launch_binding.h"
#include "evaluator/gate/poison.h"
#include "evaluator/gate/program.h"

namespace evo {

// A program over one input set, ready to run.
struct BoundProgram {
  const LaunchBinding* binding = nullptr;
  InputSet* inputs = nullptr;
  Sequence sequence;
  std::vector<DeviceCopy> constants;  // fill `__constant__` variables from these inputs
};

BoundProgram BindProgram(const LaunchBinding& binding, InputSet& inputs);

// What to do before a run: outputs, workspaces, shared and local memory get this poison, inputs other contents if there are any,
// and then the `__constant__` variables what they are filled with.
Preparation PrepareRun(const BoundProgram& bound, const Poison& poison, std::span<const DeviceCopy> contents = {});

// The largest errors that checks have seen.
struct CheckedErrors {
  double l2 = 0;
  double max = 0;
};

// Decides whether one program computes what its task asks for. Every method returns the failure, or nullopt if there is none.
// Remembers the answer to each input set: where the task asks for bitwise determinism, every later run must give the same bytes,
// timed runs included.
class Gate {
 public:
  Gate(Device& device, Determinism determinism) : device_(device), determinism_(determinism) {}

  // Poisons the outputs, runs the program, then compares guards, inputs and outputs with what they must be; `repeats` times, each
  // with another poison. On the cpu device each run has another schedule. On a GPU every other run has cold caches, so that loads
  // end in another order and warps drift apart.
  std::optional<Failure> Check(const BoundProgram& bound, int repeats, CheckedErrors& errors);

  // Check on one set after another, but the device is waited for once: of `program` a failure says which of them it was; none
  // where the device failed, which it says later than it does. A write outside goes before a wrong answer. All sets have an
  // answer.
  struct FailureOf {
    std::optional<std::size_t> program;
    Failure failure;
  };
  std::optional<FailureOf> CheckTogether(std::span<const BoundProgram* const> programs, int repeats, CheckedErrors& errors);

  // Poisons the outputs, runs the program once and looks at what it wrote, without a judgement. With `reference`, that runs after
  // the program, as in CheckBeforeReference.
  std::variant<InputSet::Answer, Failure> Try(const BoundProgram& bound, Reference* reference = nullptr);
  // As Check, but the answer does not exist while the program runs: the reference runs after each run, on the inputs as they were
  // drawn. The set may be an unanswered one.
  std::optional<Failure> CheckBeforeReference(const BoundProgram& bound, Reference& reference, int repeats,
                                              CheckedErrors& errors);

  // Checks what an earlier run has left behind.
  std::optional<Failure> Inspect(const BoundProgram& bound, CheckedErrors& errors);

  // kCheating if memory was changed that this gate has judged by, or memory that belongs to no buffer. To be called once the
  // program has passed; large answers are left out unless `all`, since reading them takes as long as a kernel. An earlier program
  // of this process may have done it, so a process of its own decides.
  std::optional<Failure> CheckProtected(bool all);

 private:
  // The first right answer to a set.
  struct Known {
    std::vector<std::uint64_t> hashes;
    std::optional<Poison> poison;  // of that run, where this gate prepared it
  };

  // `reference` is null where the answer exists.
  std::optional<Failure> RunOnce(const BoundProgram& bound, std::uint64_t schedule, const Poison& poison, Reference* reference);
  std::optional<Failure> CheckRuns(const BoundProgram& bound, int repeats, CheckedErrors& errors, Reference* reference);
  std::optional<std::vector<std::uint64_t>> HashesOf(const BoundProgram& bound, std::uint64_t schedule, const Poison& poison,
                                                     Reference* reference);
  bool RunsDiffer(const BoundProgram& bound, const InputSet::Answer& answer, const Poison& poison, Reference* reference);
  bool DependsOnPoison(const BoundProgram& bound, std::uint64_t schedule, const Poison& poison, Reference* reference);
  InputSet::Look WhatToSee(const BoundProgram& bound, bool ran_last);
  static InputSet::Answer AnswerOf(const BoundProgram& bound, const InputSet::Look& look, const Inspected& inspected);
  InputSet::Answer Look(const BoundProgram& bound, bool ran_last);
  // The failure of a run, and whether it is one of another kind: a race, or what memory held.
  Failure Explained(const BoundProgram& bound, Failure failure, const InputSet::Answer& answer, std::uint64_t schedule,
                    const Poison& poison, Reference* reference);
  std::optional<Failure> Judge(const BoundProgram& bound, const InputSet::Answer& answer, const std::optional<Poison>& poison,
                               CheckedErrors& errors);
  std::optional<Failure> Believed(const BoundProgram& bound, std::optional<Failure> failure);

  Device& device_;
  Determinism determinism_;
  std::map<std::uint64_t, Known> answers_;  // by InputSet::number
  // What the sets that were judged rely on, as long as they exist.
  std::set<std::weak_ptr<const ProtectedMemory>, std::owner_less<>> protected_;
};

}  // namespace evo
