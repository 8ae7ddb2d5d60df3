#include "mutators/analysis/reductions/array_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
                                                      {"furthest", "ABS(X - A)", kLargest},
                                                      {"moved", "X - FIRST", kSum},
                                                      {"moved_squares", "(X - FIRST) * (X - FIRST)", kSum},
                                                      {"largest_at", "largest", kFirstPlace},
                                                      {"smallest_at", "smallest", kFirstPlace},
                                                      {"magnitude_at", "magnitude", kFirstPlace},
                                                      {"last_largest_at", "largest", kLastPlace},
                                                      {"last_smallest_at", "smallest", kLastPlace}};
  return statistics;
}

ArrayStatisticValues StatisticsOfElements(const std::function<double(std::int64_t)>& x,
                                          const std::function<double(std::int64_t)>& a, std::int64_t length) {
  const double infinity = std::numeric_limits<double>::infinity();
  ArrayStatisticValues all{{"largest", -infinity}, {"smallest", infinity}};
  for (const char* sum : {"total", "magnitude", "absolute", "squares", "deviations"}) all[sum] = 0;
  for (const char* sum : {"dots", "distances", "differences", "furthest"}) all[sum] = a ? 0 : std::nan("");
  const auto note = [&](const std::string& name, bool better, bool same, std::int64_t i) {
    if (better) all[name + "_at"] = static_cast<double>(i);
    if (better || same) all["last_" + name + "_at"] = static_cast<double>(i);
  };
  for (std::int64_t i = 0; i < length; ++i) {
    const double element = x(i), size = std::fabs(element);
    note("largest", element > all["largest"], element == all["largest"], i);
    note("smallest", element < all["smallest"], element == all["smallest"], i);
    note("magnitude", i == 0 || size > all["magnitude"], false, i);
    all["largest"] = std::max(all["largest"], element);
    all["smallest"] = std::min(all["smallest"], element);
    all["magnitude"] = std::max(all["magnitude"], size);
    all["total"] += element;
    all["absolute"] += size;
    all["squares"] += element * element;
    if (!a) continue;
    const double other = a(i), away = std::fabs(element - other);
    all["dots"] += element * other;
    all["distances"] += away * away;
    all["differences"] += away;
    all["furthest"] = std::max(all["furthest"], away);
  }
  const double mean = all["total"] / static_cast<double>(length);
  for (std::int64_t i = 0; i < length; ++i) all["deviations"] += (x(i) - mean) * (x(i) - mean);
  return all;
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
      {"(moved_squares - moved * moved / L) / L", [](const Values& of, double n) { return of.at("deviations") / n; }, false,
       true},
      {"(moved_squares - moved * moved / L) / (L - 1)", [](const Values& of, double n) { return of.at("deviations") / (n - 1); },
       false, true},
      {"moved_squares - moved * moved / L", [](const Values& of, double) { return of.at("deviations"); }, false, true},
      {"sqrt((moved_squares - moved * moved / L) / L)",
       [](const Values& of, double n) { return std::sqrt(of.at("deviations") / n); }, true, true},
      {"sqrt((moved_squares - moved * moved / L) / (L - 1))",
       [](const Values& of, double n) { return std::sqrt(of.at("deviations") / (n - 1)); }, true, true},
      {"largest_at", [](const Values& of, double) { return of.at("largest_at"); }},
      {"smallest_at", [](const Values& of, double) { return of.at("smallest_at"); }},
      {"magnitude_at", [](const Values& of, double) { return of.at("magnitude_at"); }},
      {"last_largest_at", [](const Values& of, double) { return of.at("last_largest_at"); }},
      {"last_smallest_at", [](const Values& of, double) { return of.at("last_smallest_at"); }},
  };
  return forms;
}

}  // namespace evo
