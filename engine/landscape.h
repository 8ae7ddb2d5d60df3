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

// The meaning of a table's columns.
struct LandscapeColumns {
  std::string score = "median_us";      // smaller is better
  std::string status = "status";        // optional column; without it a row is ok if its score is a number
  std::string ok = "ok";                // the status of rows that are ok
  std::vector<std::string> parameters;  // empty: the columns before the status, or before the score if that comes first
};

// One parameter of a landscape with the values that occur, ascending if all are numbers, else in alphabetical order.
struct LandscapeParameter {
  std::string name;
  std::vector<std::string> values;           // as they are spelled first; spellings of one number are one value
  FeatureKind kind = FeatureKind::kOrdinal;  // categorical if the values are words
};

// The values as whole numbers; nullopt unless the parameter is ordinal and all of them are.
std::optional<std::vector<std::int64_t>> WholeValues(const LandscapeParameter& parameter);

// A search space that was measured point by point. Only the points listed exist, because the constraints are not known.
struct Landscape {
  std::vector<LandscapeParameter> parameters;     // with at least two values
  std::vector<std::vector<int>> levels;           // for each point the index of each parameter's value
  std::vector<double> scores;                     // of each point; not a number if the point failed
  std::map<std::vector<int>, std::size_t> index;  // from levels to the point
  double optimum = 0;                             // the smallest score
  // Of each level of each parameter, how many times 2 divides the value, scaled to 0 to 1; none for a parameter where that says
  // nothing (DivisibilityTells).
  std::vector<std::vector<double>> divisibility;

  std::size_t size() const { return scores.size(); }
  // The kinds and the coordinates for a surrogate. The coordinate of an ordinal value is its rank, scaled to 0 to 1; that of a
  // word is its index. The divisibilities follow.
  std::vector<FeatureKind> Kinds() const;
  Features At(std::size_t point) const;
};

// Reads comma, semicolon or tab separated values with a heading, whose names are all different. Fields may be quoted. Empty lines
// and lines that begin with # are ignored. `name` stands for the text in messages. Throws UsageError with the line and what to
// do.
Landscape ReadLandscape(std::istream& text, const std::string& name, const LandscapeColumns& columns);
// A landscape of computed scores. Precondition: the points differ and at least one score is a number.
Landscape MakeLandscape(std::vector<LandscapeParameter> parameters, std::vector<std::vector<int>> levels,
                        std::vector<double> scores);

}  // namespace evo
