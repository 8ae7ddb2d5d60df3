#pragma once

#include <string>
#include <vector>

#include "core/rng.h"
#include "evaluator/adversary/number_mutation.h"
#include "evaluator/gate/input_program.h"

namespace evo {

// Makes input programs of one task and case, new ones and variants of others. Everything that it makes is legal for the task.
class InputMutator {
 public:
  InputMutator(const Task& task, const Case& sizes);

  // A program from nothing: one real-valued input changed alone, all of them alike, or each in its own way; integer inputs now
  // and then.
  InputProgram Random(Rng& rng) const;
  // A variant of `parent`. `other` gives arguments for a crossover.
  InputProgram Mutate(const InputProgram& parent, const InputProgram& other, Rng& rng) const;
  // `parent` with a few single elements changed.
  InputProgram SetElements(const InputProgram& parent, Rng& rng) const;

 private:
  struct Input {
    std::string name;
    Argument argument;
    Rows rows;
    std::vector<std::int64_t> bounds;  // of its generators
  };
  const Input& AnyInput(Rng& rng) const;
  const Input* Named(const std::string& name) const;
  ChangeScope ScopeOf(const Input& input, const Generator& base) const;
  Generator DrawBase(const Input& input, Rng& rng) const;
  InputChange DrawChange(const Input& input, const Generator& base, Rng& rng) const;
  ArgumentProgram DrawArgument(const Input& input, Rng& rng) const;
  ArgumentProgram& ProgramOf(const Input& input, InputProgram& program) const;
  void PerturbSomeNumber(const Input& input, ArgumentProgram& program, Rng& rng) const;
  void MutateOnce(InputProgram& program, const InputProgram& other, Rng& rng) const;

  std::vector<Input> inputs_;
  std::vector<std::size_t> real_;  // positions in inputs_
};

}  // namespace evo
