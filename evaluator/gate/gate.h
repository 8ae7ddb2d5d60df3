#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/input_set.h"
#include "evaluator/gate/launch_binding.h"
#include "evaluator/gate/program.h"

namespace evo {

// A program over one input set, ready to run.
struct BoundProgram {
  Program* program = nullptr;
  const LaunchBinding* binding = nullptr;
  InputSet* inputs = nullptr;
  Sequence sequence;
};

BoundProgram BindProgram(Program& program, const LaunchBinding& binding, InputSet& inputs);

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

  // Poisons the outputs, runs the program, then compares guards, inputs and outputs with what they must be; `repeats` times. On
  // the cpu device each run has another schedule. On a GPU every other run has cold caches, so that loads end in another order
  // and warps drift apart.
  std::optional<Failure> Check(const BoundProgram& bound, int repeats, CheckedErrors& errors);

  // Poisons the outputs, runs the program once and looks at what it wrote, without a judgement.
  std::variant<InputSet::Answer, Failure> Try(const BoundProgram& bound);

  // Checks what an earlier run has left behind.
  std::optional<Failure> Inspect(const BoundProgram& bound, CheckedErrors& errors);

 private:
  std::optional<Failure> RunOnce(const BoundProgram& bound, std::uint64_t schedule);
  bool RunsDiffer(const BoundProgram& bound, const InputSet::Answer& answer);
  InputSet::Answer Look(const BoundProgram& bound);
  std::optional<Failure> Judge(const BoundProgram& bound, const InputSet::Answer& answer, CheckedErrors& errors);

  Device& device_;
  Determinism determinism_;
  std::uint64_t runs_ = 0;                                         // makes integer sentinels differ from run to run
  std::map<const InputSet*, std::vector<std::uint64_t>> answers_;  // hashes of the first right answer
};

}  // namespace evo
