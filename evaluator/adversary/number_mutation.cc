#include "evaluator/adversary/number_mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

namespace evo {
namespace {

using Kind = InputChange::Kind;

constexpr int kDigits = 4;  // enough for a search, and programs stay readable
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Between(double low, double high, Rng& rng) { return low + (high - low) * rng.Uniform(); }

double Signed(double magnitude, Rng& rng) { return rng.Chance(0.5) ? magnitude : -magnitude; }

// Powers of ten: mostly those of everyday data, a few at the ends of fp32.
double DrawMagnitude(Rng& rng) {
  const std::array<double, 3> weights{0.6, 0.25, 0.15};
  switch (rng.Weighted(weights)) {
    case 0:
      return std::pow(10, Between(-1, 3, rng));
    case 1:
      return std::pow(10, Between(-6, 6, rng));
    default:
      return std::pow(10, Between(-42, 36, rng));
  }
}

double DrawValue(Rng& rng) {
  const std::array<double, 5> weights{0.08, 0.1, 0.02, 0.1, 0.7};
  switch (rng.Weighted(weights)) {
    case 0:
      return 0;
    case 1:
      return -kInfinity;
    case 2:
      return kInfinity;
    case 3:
      return -1e9;
    default:
      return Signed(DrawMagnitude(rng), rng);
  }
}

// How many places there are for a change of that kind.
std::size_t Places(Kind kind, const Rows& rows) {
  switch (kind) {
    case Kind::kSet:
      return rows.count;
    case Kind::kTakeAll:
      return std::max<std::size_t>(rows.count, 2) - 1;
    case Kind::kScaleRow:
    case Kind::kShiftRow:
      return rows.rows();
    default:
      return std::min(rows.length, rows.count);
  }
}

double DrawPlaceBelow(std::size_t size, Rng& rng) {
  const std::array<double, 4> weights{0.15, 0.15, 0.3, 0.4};
  switch (rng.Weighted(weights)) {
    case 0:
      return 0;
    case 1:
      return -1;
    case 2: {  // about a boundary of warps or blocks
      const double place = std::exp2(static_cast<double>(5 + rng.Below(6))) - static_cast<double>(rng.Below(2));
      if (place < static_cast<double>(size)) return place;
      break;
    }
    default:
      break;
  }
  return static_cast<double>(rng.Below(size));
}

double DrawNormal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.Uniform())) * std::cos(2 * std::numbers::pi * rng.Uniform());
}

double PerturbReal(double number, Rng& rng) {
  if (rng.Chance(0.15)) return -number;
  // Large steps find the range that matters, small ones an exact place in it.
  constexpr std::array<double, 3> kSteps{1, 0.1, 0.01};
  const double factor = std::exp(kSteps[rng.Below(kSteps.size())] * DrawNormal(rng));
  const double next = RoundToDigits(number * factor, kDigits);
  return std::isfinite(next) ? next : number;
}

}  // namespace

double RoundToDigits(double number, int digits) {
  if (!std::isfinite(number)) return number;
  return std::strtod(fmt::format("{:.{}e}", number, digits - 1).c_str(), nullptr);
}

double DrawNumber(NumberRole role, Kind kind, const ChangeScope& scope, Rng& rng) {
  switch (role) {
    case NumberRole::kFactor:
      return RoundToDigits(rng.Chance(0.85) ? DrawMagnitude(rng) : -DrawMagnitude(rng), kDigits);
    case NumberRole::kAmount:
      return RoundToDigits(Signed(DrawMagnitude(rng), rng), kDigits);
    case NumberRole::kValue:
      if (!scope.real) return static_cast<double>(rng.Below(static_cast<std::uint64_t>(std::max<std::int64_t>(scope.bound, 1))));
      return RoundToDigits(DrawValue(rng), kDigits);
    case NumberRole::kShare: {
      constexpr std::array<double, 4> kShares{0.5, 0.25, 0.9, 0.99};
      return rng.Chance(0.5) ? kShares[rng.Below(kShares.size())] : RoundToDigits(rng.Uniform(), kDigits);
    }
    case NumberRole::kCount: {
      constexpr std::array<double, 6> kCounts{2, 3, 4, 16, 32, 33};
      return kCounts[rng.Below(kCounts.size())];
    }
    case NumberRole::kPlace:
      return DrawPlaceBelow(std::max<std::size_t>(Places(kind, scope.rows), 1), rng);
  }
  return 0;
}

double PerturbNumber(double number, NumberRole role, Kind kind, const ChangeScope& scope, Rng& rng) {
  const bool real = role == NumberRole::kFactor || role == NumberRole::kAmount || (role == NumberRole::kValue && scope.real);
  if (rng.Chance(0.15)) return DrawNumber(role, kind, scope, rng);
  if (real && std::isfinite(number) && number != 0) return PerturbReal(number, rng);
  if (role == NumberRole::kPlace && rng.Chance(0.5)) {
    const double next = number + (rng.Chance(0.5) ? 1 : -1);
    return static_cast<double>(Wrap(next, std::max<std::size_t>(Places(kind, scope.rows), 1)));
  }
  return DrawNumber(role, kind, scope, rng);
}

}  // namespace evo
