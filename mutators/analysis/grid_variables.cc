#include "mutators/analysis/grid_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/integer_arithmetic.h"
#include "mutators/analysis/shared_array.h"

namespace evo {

GridVariables::GridVariables(const SyntaxTree& tree, GridMemories& memories, bool extents_known, Refusal& refusal)
    : tree_(tree), memories_(memories), extents_known_(extents_known), refusal_(refusal) {}

void GridVariables::StartBlock(std::size_t lanes, std::int64_t dynamic_bytes, const GridArguments& arguments) {
  lanes_ = lanes;
  dynamic_bytes_ = dynamic_bytes;
  values_.clear();
  references_.clear();
  arrays_.clear();
  for (const auto& [parameter, value] : arguments) {
    LaneValues all(lanes_, value.numbers[0], value.known[0]);
    all.memory = value.memory;
    values_[parameter] = std::move(all);
  }
}

void GridVariables::Declare(int variable, const LaneValues& values, const LaneMask& mask) {
  LaneValues& held = values_.try_emplace(variable, lanes_, 0, Knowledge::kUnknown).first->second;
  held.memory = values.memory;
  held.Take(values, mask);
}

void GridVariables::Pass(int parameter, LaneValues values) {
  references_.erase(parameter);
  values_[parameter] = std::move(values);
}

const LanePlace* GridVariables::ReferenceOf(int variable) const {
  const auto found = references_.find(variable);
  return found == references_.end() ? nullptr : &found->second;
}

std::optional<int> GridVariables::ArrayOf(int variable) const {
  for (const auto* memories : {&of_device_, &arrays_}) {
    if (const auto found = memories->find(variable); found != memories->end()) return found->second;
  }
  return std::nullopt;
}

std::int64_t GridVariables::DeclareArray(int variable) {
  const SyntaxNode& node = tree_.node(variable);
  const bool shared = IsShared(tree_, variable), dynamic = node.type.ends_with("[]");
  const auto again = arrays_.find(variable);
  if (shared && again != arrays_.end()) return 0;
  const std::string element = PlainType(node.type.substr(0, node.type.find('[')));
  std::int64_t elements = dynamic ? dynamic_bytes_ / std::max(1, SizeOf(element)) : 1;
  if (!dynamic) {
    for (const long long extent : ExtentsOf(node.type)) elements *= extent;
  }
  if (again == arrays_.end()) {
    const bool known = extents_known_ || dynamic || !node.type.ends_with("]");
    arrays_[variable] = memories_.AddArray({node.name, element, true, !shared, known ? elements : -1, -1, {}});
  } else {
    memories_.Empty(again->second);
  }
  return elements;
}

LaneValues* GridVariables::Held(int variable) {
  const auto held = values_.find(variable);
  if (held != values_.end()) return &held->second;
  refusal_.Add(fmt::format("`{}` is not understood", tree_.node(variable).name));
  return nullptr;
}

LaneValues GridVariables::Load(const LanePlace& place, const LaneMask& mask) {
  if (refusal_.given()) return UnknownLanes(lanes_);
  if (place.memory >= 0) return memories_.Load(place.memory, place.index, mask, place.access);
  const LaneValues* const held = Held(place.variable);
  return held != nullptr ? *held : UnknownLanes(lanes_);
}

void GridVariables::Store(const LanePlace& place, const LaneValues& values, const LaneMask& mask) {
  if (refusal_.given()) return;
  if (place.memory >= 0) return memories_.Store(place.memory, place.index, values, mask, place.access);
  LaneValues* const held = Held(place.variable);
  if (held == nullptr) return;
  if (values.memory >= 0) held->memory = values.memory;
  held->Take(values, mask);
}

}  // namespace evo
