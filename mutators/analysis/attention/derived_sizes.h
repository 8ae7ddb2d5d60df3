#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/grid_runs/trial_sizes.h"

namespace evo {

// What heads, keys and elements of a row may be beside the sizes of a source's launch lines: numbers that they name, such as `6`,
// quotients that they pass or that a kernel computes of what they pass, such as `C / 6`, and sizes and one.
class DerivedSizes {
 public:
  DerivedSizes() = default;
  DerivedSizes(const SyntaxTree& tree, const SourceRuns& runs);

  const std::vector<std::string>& numbers() const { return numbers_; }
  std::vector<std::string> Quotients() const;
  // One more than a size, where a kernel counts up to the size: `pos + 1`.
  const std::vector<std::string>& increments() const { return increments_; }
  // The sizes where what is divided is a multiple of the divisor, with the numbers and quotients by their texts.
  LaunchRuns::Sizes With(LaunchRuns::Sizes sizes) const;
  // The sizes where a size or a quotient has this value.
  LaunchRuns::Sizes Where(LaunchRuns::Sizes sizes, const std::string& name, std::int64_t value) const;
  // The sizes of a quotient, or the name itself.
  static std::vector<std::string> SizesOf(const std::string& name);

 private:
  struct Quotient {
    std::string dividend, divisor;
    std::string Text() const { return dividend + " / " + divisor; }
  };
  void AddNumber(const std::string& text);
  void AddQuotient(const SourceRuns& runs, const Quotient& quotient);
  void AddOfKernel(const SyntaxTree& tree, const SourceRuns& runs, int kernel, const std::map<int, std::string>& passed);

  std::vector<std::string> numbers_, increments_;
  std::vector<Quotient> quotients_;
};

// Numbers for the sizes of a source, with those that are derived of them.
class MatrixSizes {
 public:
  MatrixSizes() : sizes_({}, {}) {}
  MatrixSizes(TrialSizes sizes, DerivedSizes derived) : sizes_(std::move(sizes)), derived_(std::move(derived)) {}

  const DerivedSizes& derived() const { return derived_; }
  bool has_units() const { return sizes_.has_units(); }
  std::int64_t AtLeast(const std::string& name, std::int64_t number) const { return sizes_.AtLeast(name, number); }
  LaunchRuns::Sizes Choice(std::size_t number) const { return derived_.With(sizes_.Choice(number)); }
  // The least of all, but more of some.
  LaunchRuns::Sizes Few(const std::vector<std::string>& names, const std::vector<std::string>& more, std::int64_t least) const;
  LaunchRuns::Sizes Where(LaunchRuns::Sizes sizes, const std::string& name, std::int64_t value) const {
    return derived_.Where(std::move(sizes), name, value);
  }

 private:
  TrialSizes sizes_;
  DerivedSizes derived_;
};

}  // namespace evo
