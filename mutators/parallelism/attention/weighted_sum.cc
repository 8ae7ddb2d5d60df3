#include "mutators/parallelism/attention/weighted_sum.h"

#include <fmt/format.h>

#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// For arithmetic among weights, of which integers must not be divided.
std::string Spelled(const StencilWeight& weight) { return weight.IsOne() ? "1.0" : Parenthesised(weight.text); }

StencilWeight Product(const StencilWeight& a, const StencilWeight& b) {
  const bool negative = a.negative != b.negative;
  if (a.IsOne()) return {b.text, negative};
  if (b.IsOne()) return {a.text, negative};
  return {fmt::format("{} * {}", Spelled(a), Spelled(b)), negative};
}

// nullopt for zero.
std::optional<StencilWeight> Total(const std::optional<StencilWeight>& a, const std::optional<StencilWeight>& b) {
  if (!a || !b) return a ? a : b;
  if (a->text == b->text && a->negative != b->negative) return std::nullopt;
  const StencilWeight &first = a->negative && !b->negative ? *b : *a, &second = &first == &*a ? *b : *a;
  const bool differ = first.negative != second.negative;
  return StencilWeight{fmt::format("{} {} {}", Spelled(first), differ ? "-" : "+", Spelled(second)), first.negative};
}

}  // namespace

WeightedSum WeightedSum::Number(StencilWeight number) {
  WeightedSum sum;
  sum.number_ = std::move(number);
  return sum;
}

WeightedSum WeightedSum::Neighbour(const Place& place) {
  WeightedSum sum;
  sum.neighbours_[place] = {"1", false};
  return sum;
}

template <typename Change>
WeightedSum WeightedSum::Changed(Change change) const {
  WeightedSum changed;
  for (const auto& [place, weight] : neighbours_) changed.neighbours_[place] = change(weight);
  if (number_) changed.number_ = change(*number_);
  return changed;
}

WeightedSum WeightedSum::Negated() const {
  return Changed([](const StencilWeight& weight) { return StencilWeight{weight.text, !weight.negative}; });
}

WeightedSum WeightedSum::Plus(const WeightedSum& other) const {
  WeightedSum sum = *this;
  for (const auto& [place, weight] : other.neighbours_) {
    const auto own = sum.neighbours_.find(place);
    const auto total = own == sum.neighbours_.end() ? weight : Total(own->second, weight);
    if (total)
      sum.neighbours_[place] = *total;
    else
      sum.neighbours_.erase(place);
  }
  sum.number_ = Total(number_, other.number_);
  return sum;
}

std::optional<WeightedSum> WeightedSum::Times(const WeightedSum& other) const {
  if (!neighbours_.empty() && !other.neighbours_.empty()) return std::nullopt;
  const WeightedSum &sum = neighbours_.empty() ? other : *this, &factor = neighbours_.empty() ? *this : other;
  if (!factor.number_) return WeightedSum();
  return sum.Changed([&](const StencilWeight& weight) { return Product(weight, *factor.number_); });
}

std::optional<WeightedSum> WeightedSum::Over(const WeightedSum& other) const {
  if (!other.neighbours_.empty() || !other.number_) return std::nullopt;
  return Changed([&](const StencilWeight& weight) {
    return StencilWeight{fmt::format("{} / {}", Spelled(weight), Spelled(*other.number_)),
                         weight.negative != other.number_->negative};
  });
}

}  // namespace evo
