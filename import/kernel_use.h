#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/source_program.h"

namespace evo {

// What a kernel does with a parameter.
struct ParameterUse {
  bool read = false;
  bool written = false;
  bool atomic = false;            // written by an atomic function
  bool partial = false;           // every write stands under a condition on where the edge of the data is
  bool nonnegative = false;       // the root or logarithm of an element is taken
  bool guarded = false;           // for integers: a condition compares it
  std::set<std::string> strides;  // for pointers: what is multiplied in its subscripts
  std::set<std::string> bounds;   // for pointers: parameters that a subscript is compared with; "gridDim.x" for blockIdx.x
  std::set<std::string> indexes;  // for pointers to integers: parameters in whose subscripts its elements occur
  std::set<std::string> columns;  // those of them in which its elements are places within a row
};

// What a kernel does, with the device functions of the file that it calls.
struct KernelUse {
  std::map<std::string, ParameterUse> parameters;
  bool loops = false;                   // a loop whose bound is no constant
  bool accumulates = false;             // `+=` in a loop
  bool transcendental = false;          // exp, tanh, ...
  std::vector<SourceRange> assertions;  // conditions of assert and static_assert
  int static_shared_line = 0;
};

KernelUse UseOf(const SourceProgram& program, const ProgramFunction& kernel);

}  // namespace evo
