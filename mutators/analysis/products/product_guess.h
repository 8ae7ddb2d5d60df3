#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/products/product_end.h"

namespace evo {

// A number as the kernel says it and as its launch line does; the kernel may have no text for it.
struct ProductNumber {
  std::string kernel, launch;
};

// What expressions of a launch line are in one launch, 0 where they are nothing.
class LaunchedValues {
 public:
  explicit LaunchedValues(LaunchRuns::Setting setting) : setting_(std::move(setting)) {}
  std::int64_t Of(const std::string& text) const;

 private:
  LaunchRuns::Setting setting_;
  mutable std::map<std::string, std::int64_t> known_;
};

// Matrix products in numbers: C[batch][row][column] is the sum over k of A[batch][row][k] * B[batch][k][column], or of A and B by
// columns, each with a distance between lines and one between products.
struct ProductLayout {
  std::int64_t batches = 1, m = 0, n = 0, k = 0, by_a = 0, by_b = 0, by_c = 0, next_a = 0, next_b = 0, next_c = 0;
  bool a_by_columns = false, b_by_columns = false;

  // Where an element of C is; nullopt if it is none.
  struct Place {
    std::int64_t batch = 0, row = 0, column = 0;
  };
  std::optional<Place> PlaceOf(std::int64_t element) const;
  std::int64_t IndexOfA(const Place& place, std::int64_t at) const;
  std::int64_t IndexOfB(const Place& place, std::int64_t at) const;
  // One behind the last element.
  std::int64_t EndOfA() const;
  std::int64_t EndOfB() const;
};

// The same with names, and what becomes of the sums.
struct ProductGuess {
  std::string a, b, c;  // buffers
  ProductNumber batches{"1", "1"}, m, n, k, by_a, by_b, by_c, next_a{"0", "0"}, next_b{"0", "0"}, next_c{"0", "0"};
  bool a_by_columns = false, b_by_columns = false;
  ProductEnd end;

  ProductLayout With(const LaunchedValues& values) const;
};

// What a run of a kernel left, to be compared with guesses.
struct ProductRun {
  const LaunchedRun& run;
  const LaunchedValues& values;
  ProductEnd::Elements elements;  // what was in buffers before
};

// All guesses that explain what was stored, each element once. `numbers` may be sizes, and `products` of them sizes and
// distances.
std::vector<ProductGuess> ProductGuessesIn(const ProductRun& run, const std::string& output,
                                           const std::vector<std::string>& inputs, const std::vector<ProductNumber>& numbers,
                                           const std::vector<ProductNumber>& products, const std::vector<ProductEnd>& ends);

// How a guess compares with what was stored.
struct ProductComparison {
  bool holds = true;     // each stored element is one of the product, and right
  bool complete = true;  // all of its elements are stored
  bool last = false;     // the last one is
  bool in_order = true;  // each is what adding up in the order of k gives, to the last bit
  bool outside = false;  // it stores elements that the product does not have
};
ProductComparison Compare(const ProductGuess& guess, const ProductRun& run);

}  // namespace evo
