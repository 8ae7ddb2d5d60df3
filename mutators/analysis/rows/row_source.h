#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/rows/row_forms.h"

namespace evo {

// A kernel with a thread for each row of a matrix [outer, length, inner], which computes forms of the row: loops over elements
// that other mutators share among the threads of a block.
struct RowKernelText {
  struct Buffer {
    std::string name;  // as the launch line says it; empty for none
    std::string type;  // of its elements
  };
  struct Stored {
    Buffer buffer;
    RowForm form;
    bool adds = false;  // one sum of all rows
    std::string times;  // what is stored is multiplied by this; empty for nothing
    std::string plus;   // and this is added
  };
  struct Passed {
    std::string type, name, argument;
  };
  std::string kernel;
  std::string outer, length, inner;  // as launch lines say them; `inner` is empty for one
  Buffer x, second, labels;
  Buffer scale, shift;        // of a vector for all rows, by which each element is multiplied, or which is added
  std::string element = "X";  // what an element is before all else: `X * temperature`
  std::vector<Stored> stored;
  std::string small, number;   // E and P
  std::string guard;           // what a label has to be, else the row has a zero; empty for nothing
  std::vector<Passed> passed;  // parameters that these texts name

  // Makes it store what another one with the same layout stores, too. False if they name different things.
  bool TakeFrom(const RowKernelText& other);
  std::string Kernel() const;
  std::string Launch() const;  // behind `evo:`
};

}  // namespace evo
