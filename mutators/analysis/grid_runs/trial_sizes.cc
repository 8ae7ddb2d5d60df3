#include "mutators/analysis/grid_runs/trial_sizes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr std::array<std::array<std::int64_t, kMostLaunchSizes>, 2> kChoices{{{2, 3, 5, 7, 4, 6}, {3, 5, 4, 2, 6, 7}}};
constexpr std::size_t kMostTriedUnits = 8;

// The number that a token of a launch line is; 0 if none is known.
std::int64_t NumberOf(const MutationContext& context, const std::string& token) {
  Variables values;
  for (const auto& [name, value] : context.genome.parameters) values[name] = Number::Integer(value);
  try {
    return Expression::Parse(token).EvaluateInteger(values);
  } catch (const Error&) {
    return 0;
  }
}

// What is between a `(` and its `)`, with them.
std::string WithinParentheses(const std::vector<std::string>& tokens, std::size_t open) {
  std::string text;
  int depth = 0;
  for (std::size_t at = open; at < tokens.size(); ++at) {
    text += tokens[at];
    depth += tokens[at] == "(" ? 1 : tokens[at] == ")" ? -1 : 0;
    if (depth == 0) return text;
  }
  return "0";
}

std::vector<std::string> TextsOf(const LaunchDirective& launch) {
  std::vector<std::string> texts = launch.arguments;
  for (const auto* dimensions : {&launch.grid, &launch.block}) {
    for (const Expression& dimension : *dimensions) texts.push_back(dimension.text());
  }
  return texts;
}

}  // namespace

std::int64_t TrialSizes::UnitOf(const std::string& name) const {
  const auto unit = units_.find(name);
  return unit == units_.end() ? 1 : unit->second;
}

std::int64_t TrialSizes::AtLeast(const std::string& name, std::int64_t number) const {
  const std::int64_t unit = UnitOf(name);
  return std::max<std::int64_t>(1, (number + unit - 1) / unit) * unit;
}

// Tiles take long, so that there are few of them.
LaunchRuns::Sizes TrialSizes::Choice(std::size_t number) const {
  LaunchRuns::Sizes sizes;
  std::size_t tiled = 0, others = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (const std::int64_t unit = UnitOf(names_[i]); unit > 1)
      sizes[names_[i]] = unit * (tiled++ % 2 == number ? 2 : 1);
    else
      sizes[names_[i]] = units_.empty() ? kChoices[number][i] : others++ % 2 == number ? 1 : 2;
  }
  return sizes;
}

std::vector<TrialSizes::Units> UnitsInLaunches(const MutationContext& context, const std::vector<std::string>& names,
                                               std::int64_t largest) {
  TrialSizes::Units whole, all;
  const auto add = [&](TrialSizes::Units& units, const std::string& name, std::int64_t unit) {
    if (unit < 2 || unit > largest || std::find(names.begin(), names.end(), name) == names.end()) return;
    std::int64_t& known = units.try_emplace(name, 1).first->second;
    known = std::min(std::lcm(known, unit), largest);
  };
  for (const Step& step : context.rendered.steps) {
    if (!step.launch) continue;
    for (const std::string& text : TextsOf(*step.launch)) {
      std::vector<std::string> tokens;
      for (const SourceRange& range : Tokenize(text)) tokens.push_back(text.substr(range.begin, range.size()));
      for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
        const std::int64_t unit = NumberOf(context, tokens[i + 2] == "(" ? WithinParentheses(tokens, i + 2) : tokens[i + 2]);
        if (tokens[i + 1] == "/") add(whole, tokens[i], unit), add(all, tokens[i], unit);
        if (tokens[i + 1] == "," && i > 1 && tokens[i - 2] == "ceil_div") add(all, tokens[i], unit);
      }
    }
  }
  std::vector<TrialSizes::Units> found{whole};
  if (all != whole) found.push_back(all);
  return found;
}

std::vector<TrialSizes::Units> UnitsOfVectors(const std::vector<std::string>& names, std::int64_t each) {
  std::vector<TrialSizes::Units> found;
  TrialSizes::Units all;
  for (const std::string& name : names) found.push_back({{name, each}}), all[name] = each;
  found.push_back(all);
  return found;
}

std::vector<TrialSizes::Units> UnitsOfDivisors(const SyntaxTree& tree, const std::vector<std::string>& names) {
  constexpr std::int64_t kMostDivisor = 16, kMostShift = 4;
  constexpr std::size_t kMostDivisors = 2;
  std::set<std::int64_t, std::greater<>> divisors;
  for (int node = 0; node < static_cast<int>(tree.nodes().size()); ++node) {
    const std::string_view operation = tree.Operator(node);
    const auto& sides = tree.node(node).children;
    if ((operation != "/" && operation != ">>") || sides.size() != 2 || tree.node(sides[0]).type.find("int") == std::string::npos)
      continue;
    // Of a thread's place it is a number of warps or the like.
    const int left = WithoutParentheses(tree, sides[0]);
    const bool parameter = tree.node(left).refers_to >= 0 && tree.node(tree.node(left).refers_to).kind_name == "ParmDecl";
    const auto number = parameter ? ConstantValue(tree, tree.Text(sides[1])) : std::nullopt;
    if (!number || *number < 1 || *number > (operation == "/" ? kMostDivisor : kMostShift)) continue;
    divisors.insert(operation == "/" ? *number : std::int64_t{1} << *number);
  }
  std::vector<TrialSizes::Units> found;
  for (const std::int64_t divisor : divisors) {
    if (divisor < 2 || found.size() >= kMostDivisors * (names.size() + 1)) break;
    for (auto& one : UnitsOfVectors(names, divisor)) found.push_back(std::move(one));
  }
  return found;
}

std::vector<TrialSizes::Units> UnitsOfOne(const MutationContext& context, const std::vector<std::string>& names,
                                          const std::set<std::string>& constants) {
  std::set<std::int64_t> units;
  for (const std::string& constant : constants) units.insert(ConstantValue(context.tree, constant).value_or(0));
  for (const Step& step : context.rendered.steps) {
    if (!step.launch) continue;
    for (const Expression& extent : step.launch->block) units.insert(NumberOf(context, extent.text()));
  }
  std::vector<TrialSizes::Units> found;
  for (const std::int64_t unit : units) {
    for (const std::string& name : names) {
      if (unit > 1 && unit <= kLargestUnit && found.size() < kMostTriedUnits) found.push_back({{name, unit}});
    }
  }
  return found;
}

}  // namespace evo
