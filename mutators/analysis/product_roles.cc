#include "mutators/analysis/product_roles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "mutators/analysis/fingerprint.h"

namespace evo {
namespace {

bool IsSameSum(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(b)); }

bool ExplainsAll(const ProductRoles& roles, const ProductLaunch& launch) {
  const auto value = [&](int parameter) { return launch.setting.integers.at(parameter); };
  if (value(roles.by_c) <= 0 || value(roles.n) <= 0) return false;
  const std::int64_t rows = roles.m == ProductRoles::kMeasured ? launch.RowsOf(value(roles.n)) : value(roles.m);
  std::set<std::int64_t> elements;
  for (const ProductSum& sum : launch.sums) {
    const std::int64_t m = sum.element / value(roles.by_c), n = sum.element % value(roles.by_c);
    if (m >= rows || n >= value(roles.n) || !elements.insert(sum.element).second) return false;
    if (!IsSumOf(roles, launch.setting, sum)) return false;
  }
  return static_cast<std::int64_t>(elements.size()) == rows * value(roles.n);
}

// All roles but the distances and the output's sizes are set.
std::optional<ProductRoles> WithSizes(ProductRoles roles, const ProductLaunch (&launches)[2], const std::vector<int>& integers,
                                      bool measured) {
  for (const int by_c : integers) {
    for (const int by_a : integers) {
      for (const int by_b : integers) {
        roles.by_a = by_a, roles.by_b = by_b, roles.by_c = by_c;
        if (!IsSumOf(roles, launches[0].setting, launches[0].sums.back())) continue;
        std::vector<int> heights{ProductRoles::kMeasured};
        if (!measured) heights.insert(heights.begin(), integers.begin(), integers.end());
        for (const int m : heights) {
          for (const int n : integers) {
            roles.m = m, roles.n = n;
            if (ExplainsAll(roles, launches[0]) && ExplainsAll(roles, launches[1])) return roles;
          }
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool IsSumOf(const ProductRoles& roles, const LaunchRuns::Setting& setting, const ProductSum& sum) {
  const auto value = [&](int parameter) { return setting.integers.at(parameter); };
  if (value(roles.by_c) <= 0) return false;
  const std::int64_t m = sum.element / value(roles.by_c), n = sum.element % value(roles.by_c), depth = value(roles.k);
  // A loop that stores a 0 first has one step more.
  const bool more = !sum.steps.empty() && sum.steps.front() == 0;
  if (static_cast<std::int64_t>(sum.steps.size()) != depth + (more ? 1 : 0)) return false;
  auto step = sum.steps.begin() + (more ? 1 : 0);
  double expected = 0;
  for (std::int64_t k = 0; k < depth; ++k, ++step) {
    const std::int64_t a = roles.a_by_columns ? k * value(roles.by_a) + m : m * value(roles.by_a) + k;
    const std::int64_t b = roles.b_by_columns ? n * value(roles.by_b) + k : k * value(roles.by_b) + n;
    expected += RandomElement(roles.a, a) * RandomElement(roles.b, b);
    if (!IsSameSum(*step, expected)) return false;
  }
  return true;
}

std::optional<ProductRoles> ProductRolesOf(const ProductLaunch (&launches)[2], const std::vector<int>& integers,
                                           const std::set<int>& buffers, bool measured) {
  for (const int a : buffers) {
    for (const int b : buffers) {
      if (a == b) continue;
      for (const int k : integers) {
        for (const bool a_by_columns : {false, true}) {
          for (const bool b_by_columns : {false, true}) {
            const auto found = WithSizes({a, b, -1, -1, k, -1, -1, -1, a_by_columns, b_by_columns}, launches, integers, measured);
            if (found) return found;
          }
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace evo
