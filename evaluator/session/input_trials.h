#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "evaluator/adversary/adversary.h"
#include "evaluator/session/legal_inputs.h"

namespace evo {

// Runs one program on inputs of one case that need not be legal, one after the other in the same memory: making buffers takes
// longer than running a kernel. Each input has its own poison, and its answer does not exist before the program has run on it.
// Methods throw as those of LegalInputs do.
class InputTrials {
 public:
  // All must outlive it.
  InputTrials(Device& device, LegalInputs& legal, Program& program, const Case& sizes)
      : device_(device), legal_(legal), program_(program), sizes_(sizes) {}

  // The error of a right answer, or why the inputs are not legal, or the failure. Whether inputs are legal is found out where the
  // answer is beyond the narrowest bounds that a legal input can have, and for a share of the others: those that may be nearer to
  // their bounds than any legal input before.
  using Tried = std::variant<RightAnswer, LeftOut, Failure>;
  Tried Try(const InputProgram& inputs);

 private:
  std::optional<LeftOut> Place(const InputProgram& inputs, const DrawnArguments& drawn);
  // What the program leaves there; a Failure that no input excuses.
  std::variant<InputSet::Answer, Failure> Run();
  Tried TryOnLegal(const InputSet::Answer& first);

  Device& device_;
  LegalInputs& legal_;
  Program& program_;
  const Case sizes_;
  std::unique_ptr<InputSet> set_;
  std::optional<LaunchBinding> binding_;
  double worst_ = 0;  // error of a right answer to a legal input
  int tried_ = 0;
  int looked_at_ = 0;  // of them, although the program is right there in any case
};

}  // namespace evo
