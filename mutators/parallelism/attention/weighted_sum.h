#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace evo {

// A number that is the same for all threads, as an expression with a sign.
struct StencilWeight {
  std::string text;  // "1" stands for one, whatever its type
  bool negative = false;

  bool IsOne() const { return text == "1"; }
  bool operator==(const StencilWeight&) const = default;
};

// A sum of neighbours, each times a weight, and of a number: what a thread of a stencil computes, if it is linear. Weights are
// compared by their texts.
class WeightedSum {
 public:
  // A distance along each axis.
  using Place = std::array<std::int64_t, 3>;

  static WeightedSum Number(StencilWeight number);
  static WeightedSum Neighbour(const Place& place);

  // The neighbours that have a weight.
  const std::map<Place, StencilWeight>& neighbours() const { return neighbours_; }
  // The number; nullopt for zero.
  const std::optional<StencilWeight>& number() const { return number_; }

  WeightedSum Negated() const;
  WeightedSum Plus(const WeightedSum& other) const;
  // nullopt if both have neighbours.
  std::optional<WeightedSum> Times(const WeightedSum& other) const;
  // nullopt if `other` is no number, or zero.
  std::optional<WeightedSum> Over(const WeightedSum& other) const;

 private:
  template <typename Change>
  WeightedSum Changed(Change change) const;

  std::map<Place, StencilWeight> neighbours_;
  std::optional<StencilWeight> number_;
};

}  // namespace evo
