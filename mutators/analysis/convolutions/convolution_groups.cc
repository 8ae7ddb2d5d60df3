#include "mutators/analysis/convolutions/convolution_groups.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// A size differs from those that taps and strides have in the same launches.
constexpr std::array<std::int64_t, 3> kGroupsTried{2, 4, 3};
constexpr std::int64_t kMostConstantGroups = 8;

bool IsOfName(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

// The names by which names are divided in a text: `groups` of "channels / groups".
std::set<std::string> DivisorsIn(const std::string& text) {
  std::set<std::string> divisors;
  for (std::size_t at = text.find('/'); at != std::string::npos; at = text.find('/', at + 1)) {
    const std::size_t before = text.find_last_not_of(' ', at - 1), begin = text.find_first_not_of(' ', at + 1);
    if (at == 0 || before == std::string::npos || begin == std::string::npos || !IsOfName(text[before])) continue;
    std::size_t end = begin;
    while (end < text.size() && IsOfName(text[end])) ++end;
    divisors.insert(text.substr(begin, end - begin));
  }
  return divisors;
}

// The kernel's integer that an expression is; -1 if it is none.
int IntegerAt(const SyntaxTree& tree, const LaunchRuns& runs, int expression) {
  const std::set<int> named = NamedIn(tree, expression);
  if (named.size() != 1 || tree.Text(WithoutParentheses(tree, expression)) != tree.node(*named.begin()).name) return -1;
  const auto& arguments = runs.arguments();
  const bool is = std::any_of(arguments.begin(), arguments.end(), [&](const auto& one) { return one.first == *named.begin(); });
  return is ? *named.begin() : -1;
}

}  // namespace

std::int64_t ConvolutionGroups::In(std::size_t launch) const { return name.empty() ? constant : kGroupsTried.at(launch); }

std::vector<ConvolutionGroups> GroupsNamedBy(const SyntaxTree& tree, const LaunchRuns& runs) {
  if (runs.arguments().empty()) return {};
  std::set<std::string> names;
  std::map<std::int64_t, std::set<int>> divided;  // integers of the kernel, by the constant that divides them
  for (const int node : Subtree(tree, tree.node(runs.arguments().front().first).parent)) {
    if (tree.node(node).kind_name != "BinaryOperator" || tree.Operator(node) != "/") continue;
    const auto& operands = tree.node(node).children;
    const int dividend = IntegerAt(tree, runs, operands.front()), divisor = IntegerAt(tree, runs, operands.back());
    if (dividend < 0) continue;
    for (const auto& [parameter, expression] : runs.arguments()) {
      if (parameter == divisor) names.insert(expression.text());
    }
    if (const auto constant = ConstantValue(tree, tree.Text(operands.back()))) divided[*constant].insert(dividend);
  }
  for (const auto& [parameter, expression] : runs.arguments()) names.merge(DivisorsIn(expression.text()));
  std::vector<ConvolutionGroups> groups;
  for (const std::string& name : runs.names()) {
    if (names.contains(name)) groups.push_back({name, 0});
  }
  // One size alone is divided by a constant for many reasons.
  for (const auto& [constant, dividends] : divided) {
    if (dividends.size() > 1 && constant > 1 && constant <= kMostConstantGroups) groups.push_back({"", constant});
  }
  return groups;
}

}  // namespace evo
