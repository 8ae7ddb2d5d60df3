#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// How a loop over all elements of an array combines them to a number. X is an element, A that of a second array.
struct ArrayStatistic {
  // The last two: where the statistic is that `term` names, the first or the last of equal ones.
  enum class By { kSum, kLargest, kSmallest, kFirstPlace, kLastPlace };
  std::string name;
  std::string term;
  By by = By::kSum;
  bool IsPlace() const { return by == By::kFirstPlace || by == By::kLastPlace; }
};
const std::vector<ArrayStatistic>& ArrayStatistics();

// What they are for some elements, by their names.
using ArrayStatisticValues = std::map<std::string, double>;
// Of so many elements, and those of a second array if there is one (`a` may be null). Also "deviations", the sum of the squares
// of the distances from the mean.
ArrayStatisticValues StatisticsOfElements(const std::function<double(std::int64_t)>& x,
                                          const std::function<double(std::int64_t)>& a, std::int64_t length);

// A number that a source may compute of all elements: an expression of statistics and L, the number of elements.
struct KnownArrayForm {
  const char* text;
  double (*value)(const ArrayStatisticValues&, double length);
  bool root = false;  // only a source that takes roots computes it
  // Of the distances from the mean, which are small differences of large numbers.
  bool of_deviations = false;
  // Whether it is where an extreme is.
  bool IsPlace() const { return std::string_view(text).ends_with("_at"); }
};
const std::vector<KnownArrayForm>& KnownArrayForms();

}  // namespace evo
