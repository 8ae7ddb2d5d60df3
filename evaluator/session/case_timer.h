#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "core/machine.h"
#include "evaluator/session/program_checker.h"
#include "evaluator/timer/timer.h"

namespace evo {

// Times programs on the cases of a task, as precisely as the device's policy says. Failures name the case.
class CaseTimer {
 public:
  // `machine`: the device's best rates, as far as they were measured; no kernel may seem faster.
  CaseTimer(Device& device, const InputPool& inputs, L2State l2, MachineState machine, std::function<bool()> jobs_wait);

  // Beyond `bounds`, where given, measuring ends early. `checked_ns` is the time that one check of the case took, everything
  // around the launch included: it tells a hopeless candidate before its first timed launch.
  std::variant<CaseMeasurement, Failure> Measure(CaseOfProgram& one, Gate& gate, const std::optional<CaseBounds>& bounds,
                                                 double checked_ns);

  // Median nanoseconds from few samples: enough to tell inputs apart on which a kernel takes longer. A kernel that is expected to
  // take long gets fewer of them.
  std::variant<double, Failure> MeasureBriefly(CaseOfProgram& one, Gate& gate, double expected_ns = kNoValue);

  // Two programs on all search cases, interleaved launch by launch; what the first one writes is checked. Adds one pair for each
  // case, up to the first failure.
  using Pairs = std::vector<std::pair<CaseMeasurement, CaseMeasurement>>;
  std::optional<Failure> MeasureInterleaved(CasesOfProgram& first, CasesOfProgram& second, Gate& gate, Pairs& pairs);

  // Times both programs again on contents that no launch has seen, and compares with `repeated`, the pairs of MeasureInterleaved.
  // kCheating if `first` certainly takes longer by more than the baseline does. `ratio` becomes the largest over the cases.
  std::optional<Failure> CompareOnFreshData(CasesOfProgram& first, CasesOfProgram& second, Gate& gate, const Pairs& repeated,
                                            double& ratio);
  // Checks some answers of the program to such contents.
  std::optional<Failure> CheckOnFreshData(CasesOfProgram& cases, Gate& gate);

 private:
  std::optional<Failure> CompareOnFreshData(CaseOfProgram& first, CaseOfProgram& second, Gate& gate, Pairs::value_type repeated,
                                            double& ratio);
  // A timer's draws differ from one measurement to the next.
  std::uint64_t NextSeed();
  // Adds what the measurement is of, and what the task declares of it.
  void Describe(CaseMeasurement& measured, const CaseOfProgram& one) const;
  // The failure of a kernel that seems faster than the device can be.
  std::optional<Failure> CheckFloor(const CaseMeasurement& measured) const;

  Device& device_;
  const InputPool& inputs_;
  L2State l2_;
  MachineState machine_;
  std::function<bool()> jobs_wait_;
  std::uint64_t timed_ = 0;
};

}  // namespace evo
