#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/rng.h"
#include "evaluator/adversary/input_mutator.h"
#include "evaluator/gate/input_program.h"
#include "evaluator/gate/program.h"

namespace evo {

// The baseline fails on the input, so that it says nothing about a candidate.
struct IllegalInput {};

struct RightAnswer {
  double fitness;  // how near to a failure, for the search: larger is nearer
  double error;    // over the bound of this input, which is legal; kNoValue: nobody has looked whether it is
  RightAnswer(double over_bound) : RightAnswer(over_bound, over_bound) {}  // NOLINT: a number is both
  RightAnswer(double for_search, double over_bound) : fitness(for_search), error(over_bound) {}
};

// What an input did to a candidate.
using ProbeAnswer = std::variant<RightAnswer, IllegalInput, Failure>;

// Runs the candidate on the inputs of a program.
using InputProbe = std::function<ProbeAnswer(const InputProgram&)>;

// An input on which a candidate is wrong.
struct FailingInput {
  InputProgram program;  // reduced
  InputProgram found;    // as the search found it
  Failure failure;       // on the reduced one
};

struct AdversaryReport {
  int inputs = 0;            // tried, illegal ones and those of the reduction included
  int illegal = 0;           // of them
  double worst = 0;          // the largest error over the bound among right answers to legal inputs
  InputProgram worst_input;  // where it was
  std::optional<FailingInput> failing;
};

// An evolutionary search for an input on which a candidate is wrong. Input programs are varied to make the error over the bound
// larger; among equals, kinds of programs that were tried less often are preferred. It knows nothing of devices or kernels, and
// the same seed makes the same decisions.
class Adversary {
 public:
  Adversary(const Task& task, const Case& sizes, std::uint64_t seed);

  // Programs to try first, in this order, such as those that other candidates of the task have failed on.
  void Seed(std::vector<InputProgram> programs);

  // Tries inputs until one makes the candidate fail, `most_inputs` were tried, or `stop` says so before an input. A failure is
  // reduced at once, by a few dozen further inputs at most. A second call continues with the population of the first.
  AdversaryReport Run(const InputProbe& probe, int most_inputs, const std::function<bool()>& stop);

 private:
  struct Member {
    InputProgram program;
    double fitness = 0;
    std::string text;
    std::string kinds;  // of its bases and changes
  };
  InputProgram Next();
  const Member& Parent();
  bool Better(const Member& one, const Member& other) const;
  void Keep(InputProgram program, double fitness);
  FailingInput Reduce(const InputProbe& probe, const InputProgram& program, const Failure& failure,
                      const std::function<bool()>& stop, AdversaryReport& report) const;

  const Task task_;  // a copy, so that the search outlives the job that brought the task
  InputMutator mutator_;
  Rng rng_;
  std::deque<InputProgram> seeds_;
  std::vector<Member> population_;
  std::map<std::string, int> tried_;  // how often programs of these kinds were tried
};

}  // namespace evo
