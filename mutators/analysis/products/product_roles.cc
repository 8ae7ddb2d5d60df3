#include "mutators/analysis/products/product_roles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "mutators/analysis/numbers/fingerprint.h"

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

// Whether a sum has as many steps as a number says. A loop that stores a 0 first has one more.
bool HasSteps(const ProductSum& sum, std::int64_t depth) {
  const auto steps = static_cast<std::int64_t>(sum.steps.size());
  return steps == depth || (steps == depth + 1 && sum.steps.front() == sum.start);
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
  const std::int64_t element = sum.element - sum.batch * roles.next_c.In(setting), depth = value(roles.k);
  if (element < 0) return false;
  const std::int64_t m = element / value(roles.by_c), n = element % value(roles.by_c);
  const std::int64_t first_a = sum.batch * roles.next_a.In(setting), first_b = sum.batch * roles.next_b.In(setting);
  // A loop that stores a 0 first has one step more.
  const bool more = !sum.steps.empty() && sum.steps.front() == sum.start;
  if (static_cast<std::int64_t>(sum.steps.size()) != depth + (more ? 1 : 0)) return false;
  auto step = sum.steps.begin() + (more ? 1 : 0);
  double expected = 0;
  for (std::int64_t k = 0; k < depth; ++k, ++step) {
    const std::int64_t a = roles.a_by_columns ? k * value(roles.by_a) + m : m * value(roles.by_a) + k;
    const std::int64_t b = roles.b_by_columns ? n * value(roles.by_b) + k : k * value(roles.by_b) + n;
    expected += RandomElement(roles.a, first_a + a) * RandomElement(roles.b, first_b + b);
    if (!IsSameSum(*step, sum.start + expected)) return false;
  }
  return true;
}

bool AddDistances(ProductRoles& roles, const ProductLaunch (&launches)[2], const std::vector<int>& integers) {
  if (launches[0].of_others.empty() || launches[1].of_others.empty()) return false;
  std::vector<ProductRoles::Distance> distances{{}};
  for (const int a : integers) distances.push_back({a, -1});
  for (std::size_t i = 0; i < integers.size(); ++i) {
    for (std::size_t j = i; j < integers.size(); ++j) distances.push_back({integers[i], integers[j]});
  }
  // Each product stores as many elements as the first, at the same places.
  const auto stores_all = [&](const ProductLaunch& launch, const ProductRoles::Distance& next) {
    std::set<std::int64_t> first, others;
    for (const ProductSum& sum : launch.sums) first.insert(sum.element);
    std::set<std::int64_t> batches;
    for (const ProductSum& sum : launch.of_others) {
      if (!first.contains(sum.element - sum.batch * next.In(launch.setting)) || !others.insert(sum.element).second) return false;
      batches.insert(sum.batch);
    }
    return others.size() == first.size() * batches.size() && !others.contains(*first.begin());
  };
  const auto explains = [&](const ProductRoles& tried, const ProductLaunch& launch) {
    return std::all_of(launch.of_others.begin(), launch.of_others.end(),
                       [&](const ProductSum& sum) { return IsSumOf(tried, launch.setting, sum); });
  };
  for (const auto& next_c : distances) {
    if (!stores_all(launches[0], next_c) || !stores_all(launches[1], next_c)) continue;
    for (const auto& next_a : distances) {
      for (const auto& next_b : distances) {
        ProductRoles tried = roles;
        tried.next_a = next_a, tried.next_b = next_b, tried.next_c = next_c;
        if (!explains(tried, launches[0]) || !explains(tried, launches[1])) continue;
        roles = tried;
        return true;
      }
    }
  }
  return false;
}

std::optional<ProductRoles> ProductRolesOf(const ProductLaunch (&launches)[2], const std::vector<int>& integers,
                                           const std::set<int>& buffers, bool measured) {
  for (const int a : buffers) {
    for (const int b : buffers) {
      if (a == b) continue;
      for (const int k : integers) {
        const auto has_steps = [&](const ProductLaunch& launch) {
          return HasSteps(launch.sums.back(), launch.setting.integers.at(k));
        };
        if (!has_steps(launches[0]) || !has_steps(launches[1])) continue;
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
