#pragma once

#include <list>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "evaluator/gate/gate.h"
#include "evaluator/messages/requests.h"
#include "evaluator/session/input_pool.h"

namespace evo {

// A program over the input sets of one case. Members refer to each other, so it stays where it is made.
struct CaseOfProgram {
  Case sizes;
  LaunchBinding binding;
  std::vector<BoundProgram> bound;
  CheckedErrors errors;
};
using CasesOfProgram = std::list<std::unique_ptr<CaseOfProgram>>;

// A case with one of its legal generators: what a program is checked on.
struct Probe {
  const Case* sizes;
  int generator;
  int repeats;
};

// The failure with the case's name before its message.
Failure Located(Failure failure, const Case& sizes);

// Lays a program over the inputs of a task and checks it there. Methods return the failure, if there is one.
class ProgramChecker {
 public:
  ProgramChecker(Device& device, InputPool& inputs) : device_(device), inputs_(inputs) {}

  // The program over these sets of one case.
  std::variant<std::unique_ptr<CaseOfProgram>, Failure> Prepare(Program& program, const Case& sizes,
                                                                const std::vector<InputSet*>& sets);
  // The program over the sets that each search case is timed on.
  std::variant<CasesOfProgram, Failure> PrepareSearchCases(Program& program);

  std::optional<Failure> Check(Program& program, Gate& gate, const Probe& probe, CheckedErrors& errors);
  std::optional<Failure> CheckOn(Program& program, Gate& gate, const Case& sizes, InputSet& set, int repeats,
                                 CheckedErrors& errors);
  // CheckOn for each of the sets, waiting for the device once. The failure is Located, and says which set it was.
  std::optional<Gate::FailureOf> CheckTogether(Program& program, Gate& gate, const Case& sizes,
                                               const std::vector<InputSet*>& sets, int repeats, CheckedErrors& errors);
  // Runs the small case with every memory access checked, on that many generators. Does nothing without an image for it.
  std::optional<Failure> CheckAccesses(const AttachedProgram& checked, int generators);

 private:
  Device& device_;
  InputPool& inputs_;
};

}  // namespace evo
