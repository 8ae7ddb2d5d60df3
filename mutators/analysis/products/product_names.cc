#include "mutators/analysis/products/product_names.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

std::string ProductNames::Of(int role) const {
  const auto [parameter, number, times] = product_.FactorsOf(role);
  const std::string& name = tree_.node(parameter).name;
  if (times >= 0) return fmt::format("({} * {})", name, tree_.node(times).name);
  return number == 1 ? name : fmt::format("({} * {})", name, number);
}

std::string ProductNames::PassedFor(int role) const {
  const auto [parameter, number, times] = product_.FactorsOf(role);
  const auto of = [&](int one) {
    for (const auto& [passed, expression] : product_.runs().arguments()) {
      if (passed == one) return expression.text();
    }
    return std::string("0");
  };
  if (times >= 0) return fmt::format("({}) * ({})", of(parameter), of(times));
  return number == 1 ? of(parameter) : fmt::format("({}) * {}", of(parameter), number);
}

std::string ProductNames::Next(const ProductRoles::Distance& next) const {
  if (next.a < 0) return "";
  const std::string times = next.b < 0 ? "" : " * " + Of(next.b);
  return fmt::format("(long long)blockIdx.z * {}{} + ", Of(next.a), times);
}

std::string ProductNames::Rows() const { return UnusedName(tree_.text(), "row_count"); }

std::string ProductNames::RowsPassed() const {
  if (product_.roles().m != ProductRoles::kMeasured) return PassedFor(product_.roles().m);
  for (std::size_t axis = 0; axis < launch_.grid.size(); ++axis) {
    std::int64_t each[2] = {};
    for (const std::size_t number : {0u, 1u}) {
      const LaunchRuns::Setting& setting = product_.launch(number).setting;
      const std::int64_t rows = product_.launch(number).RowsOf(setting.integers.at(product_.roles().n));
      each[number] = rows % setting.grid[axis] == 0 ? rows / setting.grid[axis] : 0;
    }
    if (each[0] <= 0 || each[0] != each[1] || product_.launch(0).setting.grid[axis] == product_.launch(1).setting.grid[axis])
      continue;
    const std::string rows = RowsOfBlock(launch_.grid[axis], each[0]);
    return rows.empty() ? "" : fmt::format("({}) * {}", launch_.grid[axis].text(), rows);
  }
  return "";
}

// With another value of the parameter that decides how many blocks there are, a block has another number of rows.
std::string ProductNames::RowsOfBlock(const Expression& blocks, std::int64_t present) const {
  std::vector<std::string> parameters;
  for (const std::string& name : blocks.Names()) {
    if (ConstantValue(tree_, name)) parameters.push_back(name);
  }
  if (parameters.empty()) return std::to_string(present);
  return parameters.size() == 1 && ConstantValue(tree_, parameters[0]) == present ? parameters[0] : "";
}

std::string ProductNames::StoredAsItIs(const std::string& sum) const {
  if (product_.compares()) return "";
  for (const std::size_t number : {0u, 1u}) {
    for (const ProductSum& one : product_.launch(number).sums) {
      if (one.steps.empty() || !(std::abs(one.stored - one.steps.back()) <= 1e-9 * (1 + std::abs(one.stored)))) return "";
    }
  }
  const std::string type = PointedTo(tree_, product_.output());
  if (type == "float" || type == "double" || type == "int") return sum;
  if (type == "__half") return fmt::format("__float2half({})", sum);
  return type == "__nv_bfloat16" ? fmt::format("__float2bfloat16({})", sum) : "";
}

}  // namespace evo
