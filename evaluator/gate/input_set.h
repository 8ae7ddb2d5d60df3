#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/bound_arguments.h"
#include "evaluator/gate/comparison.h"
#include "evaluator/gate/guarded_buffer.h"
#include "evaluator/gate/launch_binding.h"
#include "evaluator/gate/poison.h"
#include "evaluator/gate/program.h"
#include "evaluator/gate/protected_memory.h"
#include "evaluator/reference/reference.h"
#include "kernel_templates/task.h"

namespace evo {

// The contents of a task's inputs and inouts on the host, in the order of the arguments; empty for other arguments.
using DrawnArguments = std::vector<std::vector<std::byte>>;

// Each input is drawn by its generator number `generator`, modulo the number of generators that it has. `memory`: arguments that
// are no longer needed, to be used again.
DrawnArguments DrawArguments(const Task& task, const Case& sizes, int generator, std::uint64_t seed, DrawnArguments memory = {});

// Draws the arguments that have a number of elements, those of many in threads of their own.
DrawnArguments DrawSideBySide(const std::vector<std::optional<std::int64_t>>& elements,
                              const std::function<std::vector<std::byte>(std::size_t)>& draw);

// The arguments of one case on the device, with the reference answer. Outputs lie in buffers of their own. One program after
// another uses them; a program that changes the inputs is found out.
class InputSet {
 public:
  // Puts the arguments on the device and runs the reference. A Failure here is the task's or the device's fault, never a
  // candidate's.
  static std::variant<std::unique_ptr<InputSet>, Failure> Make(Device& device, const Task& task, const Case& sizes,
                                                               const DrawnArguments& drawn, std::uint64_t seed,
                                                               Reference& reference);
  // As Make, but the reference has not run: no program that runs before RunReference can find the answer.
  static std::variant<std::unique_ptr<InputSet>, Failure> MakeUnanswered(Device& device, const Task& task, const Case& sizes,
                                                                         const DrawnArguments& drawn, std::uint64_t seed);
  // Becomes an unanswered set with other contents in the same memory, for the cost of writing them: another number, other
  // poisons, no allowances. Prepare puts them in place, and writes guards again where they were overwritten. Not for a copied set
  // or one that has been copied.
  DeviceStatus Renew(const DrawnArguments& drawn, std::uint64_t seed);
  // Runs the reference on the inputs as they were drawn, whatever a program has made of them since. kCheating if the copies that
  // it reads were changed. Not for a copied set.
  std::optional<Failure> RunReference(Reference& reference);
  // Forgets the answer and lets the preparation of the next run overwrite it. Inspect needs RunReference before it.
  void HideAnswer(Preparation& preparation);

  // Gives back the memory for the answer. Afterwards programs can run on the set, and nothing that they leave can be judged.
  void DropAnswer();

  // The same arguments at other addresses, with the same reference answer. They lie one behind the other from the start of a
  // unit of memory: their relative addresses, which move a kernel's time by a percent, do not depend on earlier allocations.
  std::variant<std::unique_ptr<InputSet>, Failure> Copy(std::uint64_t guard_seed) const;

  // The same number for this set and its copies, on which a program gives the same answer; no other set of the process has it.
  std::uint64_t number() const { return number_; }
  // The reference's answers to this set and the copies that its inputs are compared with.
  std::vector<std::shared_ptr<const ProtectedMemory>> Protected() const;
  // Lets the outputs of this set be poisoned with right answers of another. Does nothing if that is of another case.
  void PoisonWithAnswersOf(const InputSet& other);

  const Case& sizes() const { return sizes_; }
  const Variables& variables() const { return variables_; }
  BufferPlace PlaceOf(const std::string& name) const;

  // The poisons of the runs over this set, which vary from run to run.
  PoisonSequence& poisons() { return poisons_; }
  // What to do before each run: outputs get poison, inout arguments the drawn values. First restores whatever the last inspection
  // found overwritten.
  Preparation Prepare(const Poison& poison);
  std::vector<DeviceTouch> Touches() const;
  // Bytes of inputs and outputs together.
  std::size_t Footprint() const;

  // The elements that count of the reference's answers, one for each output, in the order of the arguments.
  std::vector<std::vector<double>> References() const;
  // The largest finite magnitude in each of them, found where they are. Overwrites what the outputs hold.
  std::variant<std::vector<double>, Failure> LargestAnswers();
  // The dtype of each output and its check for these sizes, likewise.
  std::vector<Dtype> OutputDtypes() const;
  std::vector<OutputCheck> Checks() const;
  // One for each output, in the order of the arguments. Inputs that the task lists need none.
  void Allow(std::vector<Allowance> allowances) { allowances_ = std::move(allowances); }

  // What a run has left behind.
  struct Answer {
    DeviceStatus status;
    std::string violation;              // a guard or an input was changed: which; empty if none
    Difference difference;              // over all outputs; the message is of the first that is not acceptable
    std::vector<Difference> outputs;    // one for each, in the order of the arguments
    std::vector<std::uint64_t> hashes;  // of the outputs' bytes that count, in the order of the arguments
    std::vector<std::uint64_t> state;   // what the caller asked for: a hash, or for kEqual the number of bytes that differ
  };
  // Also inspects the workspaces of `binding`, if given, and makes the inspections `state`.
  Answer Inspect(const LaunchBinding* binding, std::span<const Inspection> state = {});
  // Inspect in two steps, between which other sets may be used: what to look at, and what was seen there.
  struct Look {
    std::vector<Inspection> inspections;
    std::size_t outputs, unchanged, own;  // inspections before: guards and inputs, workspaces, `state`
  };
  Look WhatToInspect(const LaunchBinding* binding, std::span<const Inspection> state) const;
  Answer AnswerOf(const LaunchBinding* binding, const Look& look, const Inspected& inspected);

  // For answers and contents made without a kernel: the addresses of an argument's contents, of its reference (0 for an input),
  // and of a copy of what was drawn for it, which no program gets (0 for an output).
  struct View {
    const Argument* argument;
    BufferPlace place;
    Address reference;  // as many doubles as there are elements
    Address contents = 0;
  };
  std::vector<View> Views() const;

 private:
  struct Protections {
    std::vector<std::shared_ptr<const ProtectedMemory>> copies;  // of a copied set: also those of the original
    std::shared_ptr<const ProtectedMemory> answers;              // null while there are none
  };
  InputSet(Device& device, const Task& task, const Case& sizes, std::uint64_t seed);
  DeviceStatus Place(const DrawnArguments& drawn, std::uint64_t seed);
  // `drawn`: what the copies hold, where the host has it.
  DeviceStatus ProtectCopies(const DrawnArguments* drawn);
  std::size_t IndexOf(const BoundArgument& bound) const {
    return static_cast<std::size_t>(bound.argument - task_.arguments.data());
  }
  DeviceStatus FillReferences();
  std::optional<Failure> ProtectAnswers();
  void JudgeOutputs(std::span<const InspectionResult> results, Answer& answer) const;
  ElementSeen ElementAt(const BoundArgument& bound, std::uint64_t index) const;
  std::size_t CountedOf(const BoundArgument& bound) const;

  Device& device_;
  const Task task_;  // a copy: cached sets outlive the job that brought the task
  Case sizes_;
  Variables variables_;
  BoundArguments bound_;
  std::vector<Allowance> allowances_;
  std::uint64_t number_;
  PoisonSequence poisons_;
  bool renewed_ = false;  // the inputs themselves do not have the contents yet
  Protections protected_;
  std::vector<std::shared_ptr<GuardedBuffer>> other_answers_;  // of another set, in the order of bound_
};

}  // namespace evo
