#include "evaluator/gate/omissions.h"

#include <algorithm>
#include <cmath>

namespace evo {
namespace {

double Squares(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return squares;
}

double LargestMagnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// An error in units of the reference's scale, over what is allowed.
double Ratio(double l2, double max, const OutputCheck& check) {
  const double ratio = std::max(l2 / check.l2, max / check.max);
  return std::isfinite(ratio) ? std::min(ratio, kCertainlySeen) : kCertainlySeen;
}

}  // namespace

BlockOmission::BlockOmission(std::size_t elements, std::size_t blocks)
    : elements_(elements),
      share_((elements + std::min(blocks, elements) - 1) / std::min(blocks, elements)),
      ratios_((elements + share_ - 1) / share_, 0),
      has_nonzero_(ratios_.size(), false) {}

void BlockOmission::Add(const std::vector<double>& reference, const OutputCheck& check) {
  const double all = std::sqrt(Squares(reference));
  const double rms = all / std::sqrt(static_cast<double>(elements_));
  for (std::size_t block = 0; block < ratios_.size(); ++block) {
    const auto begin = reference.begin() + static_cast<std::ptrdiff_t>(block * share_);
    const auto end = reference.begin() + static_cast<std::ptrdiff_t>(std::min((block + 1) * share_, elements_));
    const std::vector<double> share(begin, end);
    if (std::all_of(begin, end, [](double value) { return value == 0; })) continue;
    has_nonzero_[block] = true;
    const double ratio = check.kind == OutputCheck::Kind::kExact
                             ? kCertainlySeen
                             : Ratio(std::sqrt(Squares(share)) / all, LargestMagnitude(share) / rms, check);
    ratios_[block] = std::max(ratios_[block], ratio);
  }
}

std::optional<BlockOmission::Block> BlockOmission::Least() const {
  std::optional<Block> least;
  for (std::size_t block = 0; block < ratios_.size(); ++block) {
    if (has_nonzero_[block] && (!least || ratios_[block] < least->ratio)) least = {block, ratios_.size(), ratios_[block]};
  }
  return least;
}

double TermOmission(const std::vector<double>& reference, const std::vector<double>& of_magnitudes, double terms,
                    const OutputCheck& check) {
  const double scale = std::sqrt(Squares(reference));
  if (scale == 0) return 0;
  const double rms = scale / std::sqrt(static_cast<double>(reference.size()));
  return Ratio(std::sqrt(Squares(of_magnitudes)) / scale / terms, LargestMagnitude(of_magnitudes) / rms / terms, check);
}

}  // namespace evo
