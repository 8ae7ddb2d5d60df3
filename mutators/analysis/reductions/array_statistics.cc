#include "mutators/analysis/reductions/array_statistics.h"

#include <cmath>

namespace evo {

const std::vector<ArrayStatistic>& ArrayStatistics() {
  using enum ArrayStatistic::By;
  static const std::vector<ArrayStatistic> statistics{{"largest", "X", kLargest},
                                                      {"smallest", "X", kSmallest},
                                                      {"magnitude", "ABS(X)", kLargest},
                                                      {"total", "X", kSum},
                                                      {"absolute", "ABS(X)", kSum},
                                                      {"squares", "X * X", kSum},
                                                      {"dots", "X * A", kSum},
                                                      {"distances", "(X - A) * (X - A)", kSum},
                                                      {"differences", "ABS(X - A)", kSum},
                                                      {"furthest", "ABS(X - A)", kLargest}};
  return statistics;
}

const std::vector<KnownArrayForm>& KnownArrayForms() {
  using Values = ArrayStatisticValues;
  static const std::vector<KnownArrayForm> forms{
      {"total", [](const Values& of, double) { return of.at("total"); }},
      {"total / L", [](const Values& of, double n) { return of.at("total") / n; }},
      {"largest", [](const Values& of, double) { return of.at("largest"); }},
      {"smallest", [](const Values& of, double) { return of.at("smallest"); }},
      {"largest - smallest", [](const Values& of, double) { return of.at("largest") - of.at("smallest"); }},
      {"magnitude", [](const Values& of, double) { return of.at("magnitude"); }},
      {"absolute", [](const Values& of, double) { return of.at("absolute"); }},
      {"absolute / L", [](const Values& of, double n) { return of.at("absolute") / n; }},
      {"squares", [](const Values& of, double) { return of.at("squares"); }},
      {"squares / L", [](const Values& of, double n) { return of.at("squares") / n; }},
      {"sqrt(squares)", [](const Values& of, double) { return std::sqrt(of.at("squares")); }, true},
      {"sqrt(squares / L)", [](const Values& of, double n) { return std::sqrt(of.at("squares") / n); }, true},
      {"dots", [](const Values& of, double) { return of.at("dots"); }},
      {"distances", [](const Values& of, double) { return of.at("distances"); }},
      {"distances / L", [](const Values& of, double n) { return of.at("distances") / n; }},
      {"sqrt(distances)", [](const Values& of, double) { return std::sqrt(of.at("distances")); }, true},
      {"sqrt(distances / L)", [](const Values& of, double n) { return std::sqrt(of.at("distances") / n); }, true},
      {"differences", [](const Values& of, double) { return of.at("differences"); }},
      {"differences / L", [](const Values& of, double n) { return of.at("differences") / n; }},
      {"furthest", [](const Values& of, double) { return of.at("furthest"); }},
  };
  return forms;
}

}  // namespace evo
