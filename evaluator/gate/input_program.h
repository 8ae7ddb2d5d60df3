#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "evaluator/gate/input_change.h"
#include "evaluator/gate/input_set.h"
#include "kernel_templates/task.h"

namespace evo {

// How one argument's values are made: a base distribution, then changes, in order. The base of integers is one of the argument's
// own generators.
struct ArgumentProgram {
  Generator base;
  std::vector<InputChange> changes;
};

// How a task's inputs are made. Arguments without a program are drawn by their first generator.
struct InputProgram {
  std::map<std::string, ArgumentProgram> arguments;  // by name
  std::uint64_t seed = 0;
};

// Canonical text, such as "X: normal(0,1) | spike(212,511) ; W: log_uniform(0.001,1000)"; the empty text draws every argument by
// its first generator. The seed is not part of it. ParseInputProgram gives the same program again.
std::string ToText(const InputProgram& program);
// Throws UsageError for what it does not understand, and for a program that could make values that are no legal input of the
// task.
InputProgram ParseInputProgram(const std::string& text, std::uint64_t seed, const Task& task);

// The inputs of this program and case as a picture for a person: "X: normal; row 17, spike 212 at column 511". Places that the
// seed decides are named, except where there is one in every row.
std::string Describe(const InputProgram& program, const Task& task, const Case& sizes);

// The contents of the task's inputs and inouts, in the order of the arguments, rounded once, to nearest even. The same program
// and case give the same bytes. An element is infinite only where the program sets it to an infinity: other values that the
// dtype cannot hold become the largest that it can hold. Throws Error for a program that does not fit the task.
DrawnArguments DrawArguments(const Task& task, const Case& sizes, const InputProgram& program);

// What each of the program's changes of an argument draws from: change number `position` has a stream of its own, which depends
// neither on other arguments nor on changes of other kinds, so that a program that is altered a little makes similar inputs.
Rng StreamOf(const InputProgram& program, const Task& task, const Case& sizes, const std::string& argument, std::size_t position);

// The shape of an argument in a case.
Rows RowsOf(const Argument& argument, const Variables& variables);

}  // namespace evo
