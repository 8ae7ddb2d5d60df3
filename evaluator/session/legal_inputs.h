#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "core/evaluator.h"
#include "evaluator/gate/gate.h"
#include "evaluator/gate/input_program.h"
#include "evaluator/messages/requests.h"
#include "evaluator/session/answered_inputs.h"
#include "evaluator/session/baseline_program.h"
#include "evaluator/session/baseline_runs.h"
#include "evaluator/session/input_bounds.h"
#include "evaluator/session/input_cache.h"

namespace evo {

// Inputs beyond those that the task lists. Such an input is legal if the reference's answer is finite and the task's baseline
// computes it: what the baseline computes, every candidate must compute, within InputBounds. Methods throw InfrastructureFailure
// where the reference fails, and where the baseline leaves the device unusable.
class LegalInputs {
 public:
  static constexpr double kHardInputs = InputBounds::kHardInputs;
  // How often the reference answers for one input: to itself, to its magnitudes and to it rounded.
  static constexpr int kAnswers = 3;

  // `baseline` without an image: no input is legal.
  LegalInputs(Device& device, InputCache& cache, const Task& task, AttachedProgram baseline);
  LegalInputs(const LegalInputs&) = delete;
  LegalInputs& operator=(const LegalInputs&) = delete;

  bool enabled() const { return baseline_.exists(); }

  // What is told of the baseline's runs here, and what is not legal because it died there before.
  BaselineRuns& baseline_runs() { return runs_; }

  // The inputs on the device with the bounds that follow from the baseline's error, or why they are not legal. Kept.
  using Legal = std::variant<InputSet*, LeftOut>;
  const Legal& Get(const Case& sizes, const InputProgram& program);

  // As MakeOfSizes, kept.
  const Legal& GetOfSizes(const Case& sizes, std::uint64_t seed);

  // The same without keeping it.
  using Made = std::variant<std::unique_ptr<InputSet>, LeftOut>;
  Made Make(const Case& sizes, const InputProgram& program);
  // Contents by the task's first generators, of sizes that the task does not list: legal if the baseline passes the task's own
  // check.
  Made MakeOfSizes(const Case& sizes, std::uint64_t seed);

  // For runs of candidates on inputs that need not be legal (InputTrials).
  const Task& task() const { return task_; }
  AnsweredInputs& inputs() { return inputs_; }
  BaselineProgram& baseline() { return baseline_; }
  InputBounds& bounds() { return bounds_; }
  // Runs a program once, then the reference, and looks at what the program wrote.
  std::variant<InputSet::Answer, Failure> RunBeforeReference(const BoundProgram& bound);

 private:
  struct Entry {
    std::unique_ptr<InputSet> set;
    Legal legal;
  };
  const Legal& Keep(Entry& entry, Made made);

  Device& device_;
  InputCache& cache_;
  const Task task_;
  AnsweredInputs inputs_;
  BaselineProgram baseline_;
  InputBounds bounds_;
  BaselineRuns runs_;
  std::map<std::string, Entry> entries_;
};

}  // namespace evo
