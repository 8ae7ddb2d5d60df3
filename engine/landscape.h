#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/features.h"

namespace evo {

// Which columns of a table mean what.
struct LandscapeColumns {
  std::string score = "median_us";      // smaller is better
  std::string status = "status";        // may be missing: then a row is ok if its score is a number
  std::string ok = "ok";                // what the status of a row is that counts
  std::vector<std::string> parameters;  // empty: those before the status, or before the score if that comes first
};

// One parameter of a landscape: the values that occur, ascending if all are numbers, else in the order of their letters.
struct LandscapeParameter {
  std::string name;
  std::vector<std::string> values;
  FeatureKind kind = FeatureKind::kOrdinal;  // of words: categorical
};

// A search space that was measured point by point. Only the points listed exist: what constraints they meet is not known.
struct Landscape {
  std::vector<LandscapeParameter> parameters;     // those with one value only are left out
  std::vector<std::vector<int>> levels;           // for each point the index of each parameter's value
  std::vector<double> scores;                     // of each point; not a number: it failed
  std::map<std::vector<int>, std::size_t> index;  // from levels to the point
  double optimum = 0;                             // the smallest score

  std::size_t size() const { return scores.size(); }
  // The kinds and the coordinates that a surrogate sees: an ordinal value counts by its rank, from 0 to 1, a word by its number.
  std::vector<FeatureKind> Kinds() const;
  Features At(std::size_t point) const;
};

// Reads comma, semicolon or tab separated values with a heading; fields may be quoted, empty lines and those that begin with #
// are passed over. `name` is what messages call the text. Throws UsageError naming the line and what to do.
Landscape ReadLandscape(std::istream& text, const std::string& name, const LandscapeColumns& columns);
// Of points with their scores, for landscapes that are computed. Precondition: points differ, one score at least is a number.
Landscape MakeLandscape(std::vector<LandscapeParameter> parameters, std::vector<std::vector<int>> levels,
                        std::vector<double> scores);

}  // namespace evo
