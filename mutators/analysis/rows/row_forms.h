#pragma once

#include <string>
#include <vector>

namespace evo {

// What may be computed of a row, as an expression of these names: X, an element; A, the element of a second matrix; L, the number
// of elements; E, a small number; P, a number that the source names; `place` and `chosen`, the place of the largest element and
// the element that the row's label names; and of statistics of the row (RowStatistics).
struct RowForm {
  std::string text;
  bool of_element = true;  // else there is one for each row
};

// What a loop over the elements computes: in this order, since later ones name earlier ones.
struct RowStatistic {
  std::string name;
  std::string begin;  // a declaration
  std::string turn;   // what the loop does with each element; empty if there is no loop
};
const std::vector<RowStatistic>& RowStatistics();

// All forms that a source may compute whose code has these words. `second` says whether it has a second matrix, `labels` whether
// it has an integer for each row, and `places` whether it stores integers.
struct RowFormsWanted {
  bool exponential = false, logarithm = false, root = false;
  bool second = false, labels = false, places = false;
};
std::vector<RowForm> RowFormsFor(const RowFormsWanted& wanted);

}  // namespace evo
