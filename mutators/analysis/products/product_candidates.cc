#include "mutators/analysis/products/product_candidates.h"

#include <fmt/format.h>

#include <cstdint>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr std::size_t kMostEndFactors = 6;

}  // namespace

void ProductCandidates::AddSizes(const LaunchRuns& launch, std::vector<ProductNumber>& numbers,
                                 std::vector<ProductNumber>& products) const {
  std::set<std::string> passed;
  for (const auto& [parameter, expression] : launch.arguments()) {
    if (expression.Names().empty() || !passed.insert(expression.text()).second) continue;
    numbers.push_back({tree_.node(parameter).name, expression.text()});
  }
  for (const std::string& name : launch.names()) {
    if (passed.insert(name).second) numbers.push_back({"", name});
  }
  const std::size_t sizes = numbers.size();
  for (std::size_t i = 0; i < sizes; ++i) {
    const std::string& kernel = numbers[i].kernel;
    for (std::size_t j = i; j < sizes; ++j) {
      const std::string& other = numbers[j].kernel;
      products.push_back({kernel.empty() || other.empty() ? "" : kernel + " * " + other,
                          fmt::format("({}) * ({})", numbers[i].launch, numbers[j].launch)});
    }
    for (const int times : {2, 4})
      products.push_back(
          {kernel.empty() ? "" : fmt::format("{} * {}", kernel, times), fmt::format("({}) * {}", numbers[i].launch, times)});
  }
}

std::vector<ProductNumber> ProductCandidates::Spelled(const std::set<std::string>& names) const {
  std::vector<ProductNumber> numbers;
  std::set<std::int64_t> spelled, parameters;
  for (const auto& [name, value] : context_.genome.parameters) parameters.insert(value);
  for (const std::string& name : names) spelled.insert(ConstantValue(tree_, name).value_or(0));
  for (const int node : Subtree(tree_, kernel_)) {
    if (tree_.node(node).kind_name == "IntegerLiteral") spelled.insert(ConstantValue(tree_, tree_.Text(node)).value_or(0));
  }
  for (const std::int64_t number : spelled) {
    const std::string text = std::to_string(number);
    if (number > 1 && !parameters.contains(number)) numbers.push_back({text, text});
  }
  return numbers;
}

std::map<std::string, double> ProductCandidates::FactorsIn(const LaunchedRun& run) const {
  std::map<std::string, double> factors;
  for (const int child : tree_.node(kernel_).children) {
    const SyntaxNode& parameter = tree_.node(child);
    const auto known = run.knowledge.factors.find(parameter.name);
    if (parameter.kind_name == "ParmDecl" && known != run.knowledge.factors.end() && known->second != 0) factors.insert(*known);
  }
  for (const auto& [text, value] : run.knowledge.factors) {
    const auto constant = RealConstant(tree_, text);
    const bool says_more = value != 0 && value != 1 && factors.size() < kMostEndFactors;
    if (says_more && constant && *constant == value) factors.emplace(text, value);
  }
  return factors;
}

}  // namespace evo
