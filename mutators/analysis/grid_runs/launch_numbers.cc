#include "mutators/analysis/grid_runs/launch_numbers.h"

#include <fmt/format.h>

#include <iterator>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

std::vector<LaunchNumber> LaunchNumbers::Shifted(std::int64_t shift) const {
  const auto shifted = [&](const std::string& of) {
    if (shift == 0) return of;
    return shift < 0 ? fmt::format("({} - {})", of, -shift) : fmt::format("({} + {})", of, shift);
  };
  std::vector<LaunchNumber> all;
  for (const auto& [parameter, expression] : runs_.arguments()) {
    if (written_.contains(parameter)) continue;
    const SyntaxNode& declared = tree_.node(parameter);
    const std::string name = WithoutConst(declared.type) == "int" ? declared.name : fmt::format("int({})", declared.name);
    const std::string passed = Parenthesised(expression.text());
    for (std::int64_t times = 1; times <= most_; ++times) {
      const auto several = [&](const std::string& of) { return times == 1 ? of : fmt::format("({} * {})", of, times); };
      all.push_back({shifted(several(name)),
                     shifted(several(passed)),
                     {first_.integers.at(parameter) * times + shift, second_.integers.at(parameter) * times + shift}});
    }
  }
  return all;
}

std::vector<LaunchNumber> LaunchNumbers::Near(std::int64_t furthest) const {
  std::vector<LaunchNumber> all = Shifted(0);
  for (std::int64_t away = 1; away <= furthest; ++away) {
    for (const std::int64_t shift : {-away, away}) {
      auto shifted = Shifted(shift);
      all.insert(all.end(), std::make_move_iterator(shifted.begin()), std::make_move_iterator(shifted.end()));
    }
  }
  return all;
}

std::optional<LaunchNumber> LaunchNumbers::Find(const std::array<std::int64_t, 2>& values, std::int64_t furthest) const {
  for (const LaunchNumber& number : Near(furthest)) {
    if (number.values == values) return number;
  }
  return std::nullopt;
}

}  // namespace evo
