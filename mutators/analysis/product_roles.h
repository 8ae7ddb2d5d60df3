#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "mutators/analysis/launch_runs.h"

namespace evo {

// What one thread summed up.
struct ProductSum {
  std::int64_t element = 0;              // of the output
  std::vector<double> steps;             // the sum after each step that changed it
  std::map<int, std::int64_t> integers;  // variables by declaration, threadIdx and so on by symbol
  double stored = 0;                     // what became of it
};

// A launch, and the sums of its threads that store something.
struct ProductLaunch {
  LaunchRuns::Sizes sizes;
  LaunchRuns::Setting setting;
  std::vector<ProductSum> sums;
  std::int64_t RowsOf(std::int64_t columns) const { return static_cast<std::int64_t>(sums.size()) / columns; }
};

// Which parameters of a kernel are what in a matrix product: A[m][k] or A[k][m], B[k][n] or B[n][k], C[m][n], each with a
// distance between lines.
struct ProductRoles {
  static constexpr int kMeasured = -2;  // of m: no parameter is the number of rows, which is that of the stored elements
  int a = -1, b = -1, m = -1, n = -1, k = -1, by_a = -1, by_b = -1, by_c = -1;
  bool a_by_columns = false, b_by_columns = false;
};

// Whether the sum is that of these roles, step by step.
bool IsSumOf(const ProductRoles& roles, const LaunchRuns::Setting& setting, const ProductSum& sum);
// The roles that explain all sums of both launches, in which all elements of the output are stored, each once; nullopt if there
// are none. With `measured`, no parameter is the number of rows. `integers`, `buffers`: parameters that sizes, and A and B, may
// be.
std::optional<ProductRoles> ProductRolesOf(const ProductLaunch (&launches)[2], const std::vector<int>& integers,
                                           const std::set<int>& buffers, bool measured);

}  // namespace evo
