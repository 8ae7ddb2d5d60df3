#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"

namespace evo {

// What one thread summed up.
struct ProductSum {
  std::int64_t element = 0;              // of the output
  std::int64_t batch = 0;                // its product among several
  double start = 0;                      // what the sum is before the first step
  std::vector<double> steps;             // the sum after each step that changed it
  std::map<int, std::int64_t> integers;  // variables by declaration, threadIdx and so on by symbol
  double stored = 0;                     // what became of it
};

// A launch, and the sums of its threads that store something.
struct ProductLaunch {
  LaunchRuns::Sizes sizes;
  LaunchRuns::Setting setting;
  std::vector<ProductSum> sums;       // of the first product
  std::vector<ProductSum> of_others;  // of the products after it
  std::int64_t RowsOf(std::int64_t columns) const { return static_cast<std::int64_t>(sums.size()) / columns; }
};

// Which parameters of a kernel are what in a matrix product: A[m][k] or A[k][m], B[k][n] or B[n][k], C[m][n], each with a
// distance between lines.
struct ProductRoles {
  // How far the elements of the next product are away, where a launch has several: a parameter, a product of two, or 0.
  struct Distance {
    int a = -1, b = -1;
    std::int64_t In(const LaunchRuns::Setting& setting) const {
      if (a < 0) return 0;
      return setting.integers.at(a) * (b < 0 ? 1 : setting.integers.at(b));
    }
  };
  static constexpr int kMeasured = -2;  // of m: no parameter is the number of rows, which is that of the stored elements
  int a = -1, b = -1, m = -1, n = -1, k = -1, by_a = -1, by_b = -1, by_c = -1;
  bool a_by_columns = false, b_by_columns = false;
  Distance next_a, next_b, next_c;
};

// Whether the sum is that of these roles, step by step.
bool IsSumOf(const ProductRoles& roles, const LaunchRuns::Setting& setting, const ProductSum& sum);
// The distances between the products of a launch that explain their sums; false if there are none. `roles` explain the first.
bool AddDistances(ProductRoles& roles, const ProductLaunch (&launches)[2], const std::vector<int>& integers);
// The roles that explain all sums of both launches, in which all elements of the output are stored, each once; nullopt if there
// are none. With `measured`, no parameter is the number of rows. `integers`, `buffers`: parameters that sizes, and A and B, may
// be.
std::optional<ProductRoles> ProductRolesOf(const ProductLaunch (&launches)[2], const std::vector<int>& integers,
                                           const std::set<int>& buffers, bool measured);

}  // namespace evo
