#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/gate/gate.h"
#include "evaluator/gate/input_program.h"
#include "evaluator/messages/requests.h"
#include "evaluator/session/baseline_runs.h"
#include "evaluator/session/input_cache.h"

namespace evo {

// Inputs beyond those that the task lists. Such an input is legal if the reference's answer is finite and the task's baseline
// computes it: what the baseline computes, every candidate must compute. A candidate's error on a legal input may be as large as
// the largest of
//   kHardInputs times the task's bound, relative to the sum of magnitudes (the reference on the absolute values) where sums
//   cancel; kOfBaseline times the baseline's own error, on this input or on one of the same program by another seed; kOfRounding
//   times the change of the reference's answer when each input is rounded once.
// Methods throw InfrastructureFailure where the reference fails, and where the baseline leaves the device unusable.
class LegalInputs {
 public:
  // The task's bound is meant for random inputs. A sum of n terms that all round the same way is off by n units instead of
  // sqrt(n).
  static constexpr double kHardInputs = 16;
  // An honest kernel that sums in another order or uses fast intrinsics is off by a few times the baseline's error.
  static constexpr double kOfBaseline = 10;
  // The baseline may be nearly right by luck, and a search for inputs finds where it is. So where its error decides the bound, it
  // is measured for so many further seeds.
  static constexpr int kOtherSeeds = 4;
  // An algorithm rounds each of its steps, which costs as much as rounding its inputs several times: about the square root of the
  // number of steps where they differ in sign. A running mean and variance (Welford) over 161 elements was seen beyond ten times.
  static constexpr double kOfRounding = 40;
  // The order of a sum decides whether it overflows: the baseline must be finite on inputs this many times as large.
  static constexpr double kHeadroom = 16;
  // Numbers below the smallest normal one lose digits, or are flushed to zero, in honest kernels.
  static double SmallestNormal(Dtype output);
  // The answer is not determined by the input if the baseline, or one rounding of the inputs, is off by this share of it.
  static constexpr double kUseless = 0.01;

  // How often the reference answers for one input: to itself, to its magnitudes and to it rounded.
  static constexpr int kAnswers = 3;

  // `baseline` without an image: no input is legal.
  LegalInputs(Device& device, InputCache& cache, const Task& task, AttachedProgram baseline);

  bool enabled() const { return !baseline_.program.image.empty(); }

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
  // Makes the derived arguments of these contents; why there are none.
  std::optional<std::string> Derive(const Case& sizes, DrawnArguments& drawn) const;
  // Why inputs are outside the task's domain; nullopt if they are not. `drawn` may be empty: then only sizes count.
  std::optional<std::string> OutsideDomain(const Case& sizes, const DrawnArguments& drawn) const;
  // A set without an answer; null where it does not fit into memory.
  std::unique_ptr<InputSet> MakeUnanswered(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed);
  // Runs a program once, then the reference, and looks at what the program wrote.
  std::variant<InputSet::Answer, Failure> RunBeforeReference(const BoundProgram& bound);
  // Runs the baseline once on a set that has its answer. Throws InfrastructureFailure if it leaves the device unusable.
  // Precondition: enabled().
  std::variant<InputSet::Answer, Failure> RunBaseline(InputSet& set);
  // Blocks of the baseline's largest launch; 0 if it cannot be launched there. Precondition: enabled().
  std::uint64_t BaselineBlocks(const Case& sizes);
  // The reference's answers to the absolute values of all real inputs, one for each output; empty where these do not fit into
  // memory.
  std::vector<std::vector<double>> AnswersToMagnitudes(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed);
  // Sets the bounds of `set`, which holds `drawn`, the contents by `inputs`, and its answer; why these inputs are not legal, if
  // they are not.
  std::optional<std::string> AllowWhatTheBaselineDoes(InputSet& set, const DrawnArguments& drawn, const InputProgram& inputs);

 private:
  struct Entry {
    std::unique_ptr<InputSet> set;
    Legal legal;
  };
  const Legal& Keep(Entry& entry, Made made);
  // A set, or why there can be none: it does not fit into memory, or the reference has no answer.
  using MadeSet = std::variant<std::unique_ptr<InputSet>, std::string>;
  MadeSet MakeSet(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed, Reference& reference);
  MadeSet Checked(std::variant<std::unique_ptr<InputSet>, Failure> made, const Case& sizes) const;
  // A set with these contents, derived ones made again, and the reference's answer, until the next call; null where there can be
  // none.
  InputSet* Scratch(const Case& sizes, DrawnArguments drawn, std::uint64_t seed, Reference& reference);
  // The reference's answers on changed inputs; empty where there are none.
  std::vector<std::vector<double>> ReferencesOn(const Case& sizes, DrawnArguments drawn, std::uint64_t seed);
  // Bounds without the baseline's error; why the inputs are not legal, if they are not.
  std::variant<std::vector<Allowance>, std::string> AllowForInputs(InputSet& set, const DrawnArguments& drawn,
                                                                   std::uint64_t seed);
  // Raises the bounds to what the baseline is off by for other seeds. Inputs that are not legal there count for nothing.
  void AllowWhatTheBaselineDoesElsewhere(const Case& sizes, const InputProgram& inputs, std::vector<Allowance>& allowances);
  bool BaselineIsFiniteOn(const Case& sizes, DrawnArguments drawn, std::uint64_t seed);
  bool HasHeadroom(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed);
  Program& Baseline();

  Device& device_;
  InputCache& cache_;
  const Task task_;
  AttachedProgram baseline_;
  BaselineRuns runs_;
  std::optional<Program> loaded_;
  std::map<std::string, Entry> entries_;
  std::unique_ptr<InputSet> scratch_;  // of the case that was asked for last
};

}  // namespace evo
