#pragma once

#include <map>
#include <string>
#include <vector>

namespace evo {

// How a loop over all elements of an array combines them to a number. X is an element, A that of a second array.
struct ArrayStatistic {
  enum class By { kSum, kLargest, kSmallest };
  std::string name;
  std::string term;
  By by = By::kSum;
};
const std::vector<ArrayStatistic>& ArrayStatistics();

// What they are for some elements, by their names.
using ArrayStatisticValues = std::map<std::string, double>;

// A number that a source may compute of all elements: an expression of statistics and L, the number of elements.
struct KnownArrayForm {
  const char* text;
  double (*value)(const ArrayStatisticValues&, double length);
  bool root = false;  // only a source that takes roots computes it
};
const std::vector<KnownArrayForm>& KnownArrayForms();

}  // namespace evo
