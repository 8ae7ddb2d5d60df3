#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/session/program_checker.h"
#include "evaluator/session/session_context.h"

namespace evo {

// Makes the inputs that HardInputCheck::CheckBattery and CheckKnown use, at most `most` of the standard battery, before a program
// is loaded: no code of a candidate is there when the baseline runs and the answers are computed. Throws InfrastructureFailure.
// Calls `begin` before each.
void PlaceHardInputs(const SessionContext& context, std::size_t most, const std::vector<Counterexample>& known,
                     const std::function<void()>& begin);

// The held-out case whose hard inputs are checked: the first of at most kMostHardBytes of arguments, else the smallest. It is
// about values; sizes are checked elsewhere, and each of a dozen inputs of half a gigabyte takes ten seconds to draw and to
// answer.
inline constexpr std::size_t kMostHardBytes = 64 << 20;
const Case& CaseForHardInputs(const Task& task, const std::vector<Case>& held_out);

// Checks one program on inputs and sizes that the task does not list, wherever the baseline is right. Methods return the failure
// of the program, if there is one, and then say in `counterexample` on which inputs. They do nothing without a baseline. Throws
// InfrastructureFailure where the reference fails.
class HardInputCheck {
 public:
  HardInputCheck(const SessionContext& context, Program& program, Gate& gate)
      : context_(context), program_(program), gate_(gate), checker_(context.device, context.inputs) {}

  // Inputs that candidates of this task failed on. What no longer fits the task is passed over.
  // Calls `begin` before each, as the next three do.
  std::optional<Failure> CheckKnown(
      const std::vector<Counterexample>& known, const std::function<void()>& begin = [] {});
  // An evenly spread part of the standard battery, of at most `most` inputs, on the small case, `repeats` times each.
  std::optional<Failure> CheckBattery(
      std::size_t most, int repeats, const std::function<void()>& begin = [] {});
  // CheckBattery, one run each, but the device is waited for once.
  std::optional<Failure> CheckBatteryTogether(std::size_t most);
  // The battery on another case, one run each; inputs that are not legal are noted once.
  std::optional<Failure> CheckBatteryOn(const Case& sizes, std::size_t most, const std::function<void()>& begin);
  // Sizes around the timed ones and large ones. A program that cannot be launched with some sizes, and says so, is not wrong: the
  // sizes are left out of its domain, as are those that are not reached until `end`.
  std::optional<Failure> CheckSizes(const std::function<void()>& begin, std::chrono::steady_clock::time_point end);
  // Searches counter-examples on the small case until `most` inputs were tried or `stop` says so.
  std::optional<Failure> Search(int most, const std::function<bool()>& stop, std::uint64_t seed);

  // What the checks so far have covered.
  const VerifiedDomain& domain() const { return domain_; }
  const AdversaryEffort& adversary() const { return adversary_; }
  const Counterexample& counterexample() const { return counterexample_; }

 private:
  // Inputs in words, made for a failure only.
  using Description = std::function<std::string()>;
  std::optional<Failure> CheckOn(Gate& gate, InputSet& set, int repeats, const Counterexample& inputs,
                                 const Description& describe);
  // Notes the counter-example, where the failure is one of the answer.
  Failure Noted(Failure failure, const Counterexample& inputs, const Description& describe);
  // On a set that is not kept. The gate knows sets by their addresses, which later sets may have, too.
  std::optional<Failure> CheckOnce(InputSet& set, const Counterexample& inputs, const Description& describe);
  std::optional<Failure> CheckUnlistedSizes(const Case& sizes, std::uint64_t seed);
  Case AdversaryCase();
  std::optional<Failure> CheckProgram(const Case& sizes, const InputProgram& inputs, int repeats);
  // Why these sizes cannot be tried with this program, although the baseline is right there; empty if they can.
  std::string CannotTry(const Case& sizes);
  void LeaveOut(const LeftOut& what);

  const SessionContext& context_;
  Program& program_;
  Gate& gate_;
  ProgramChecker checker_;
  VerifiedDomain domain_;
  AdversaryEffort adversary_;
  Counterexample counterexample_;
};

}  // namespace evo
