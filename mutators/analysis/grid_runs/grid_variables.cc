#include "mutators/analysis/grid_runs/grid_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

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
    all.width = value.width;
    values_[parameter] = std::move(all);
  }
}

void GridVariables::Declare(int variable, const LaneValues& values, const LaneMask& mask) {
  LaneValues& held = values_.try_emplace(variable, lanes_, 0, Knowledge::kUnknown).first->second;
  references_.erase(variable);
  held.memory = values.memory;
  held.width = values.width;
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
  std::string element = PlainType(node.type.substr(0, node.type.find('[')));
  const ThreadVectorType vector = ThreadVectorTypeOf(element);
  if (vector.count > 0) element = vector.number;
  std::int64_t elements = dynamic ? dynamic_bytes_ / std::max(1, SizeOf(element)) : 1;
  if (!dynamic) {
    for (const long long extent : ExtentsOf(node.type)) elements *= extent;
    elements *= std::max(1, vector.count);
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

LanePlace GridVariables::InMemory(int variable) {
  LaneValues* const held = Held(variable);
  LanePlace place;
  if (held == nullptr) return place;
  const std::string& name = tree_.node(variable).name;
  if (held->memory >= 0) {
    refusal_.Add(fmt::format("the address of the pointer {} is not understood", name));
    return place;
  }
  const std::string type = PlainType(tree_.node(variable).type);
  const ThreadVectorType vector = ThreadVectorTypeOf(type);
  place.width = std::max(1, vector.count);
  place.memory =
      memories_.AddArray({name, vector.count > 0 ? std::string(vector.number) : type, true, true, place.width, -1, {}});
  place.index.assign(lanes_, 0);
  LaneValues values = *held;
  if (vector.count > 0) values.parts.resize(static_cast<std::size_t>(vector.count), UnknownLanes(lanes_));
  Store(place, values, LaneMask(lanes_, 1));
  references_[variable] = place;
  return place;
}

const LanePlace& GridVariables::Behind(const LanePlace& place) const {
  const LanePlace* const referred = place.memory < 0 ? ReferenceOf(place.variable) : nullptr;
  return referred == nullptr ? place : *referred;
}

// As a GPU wants it: vectors of three are three numbers.
bool GridVariables::IsAligned(const LanePlace& place, const LaneMask& mask) {
  const std::int64_t unit = place.width == 3 ? 1 : place.width;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane] || place.index[lane] % unit == 0) continue;
    refusal_.Add(fmt::format("it takes {} elements at once that do not begin at a multiple of that", unit));
    return false;
  }
  return true;
}

LaneValues GridVariables::Load(const LanePlace& named, const LaneMask& mask) {
  if (refusal_.given()) return UnknownLanes(lanes_);
  LanePlace place = Behind(named);
  LaneValues values = UnknownLanes(lanes_);
  if (place.memory < 0) {
    const LaneValues* const held = Held(place.variable);
    if (held == nullptr || named.part < 0) return held != nullptr ? *held : values;
    const auto part = static_cast<std::size_t>(named.part);
    return part < held->parts.size() ? held->parts[part] : values;
  }
  if (named.part >= 0) {
    for (std::int64_t& index : place.index) index += named.part;
    place.width = 1;
  }
  if (place.width == 1) return memories_.Load(place.memory, place.index, mask, place.access);
  for (int part = 0; part < place.width && IsAligned(place, mask); ++part) {
    std::vector<std::int64_t> index = place.index;
    for (std::int64_t& one : index) one += part;
    values.parts.push_back(memories_.Load(place.memory, index, mask, place.access));
  }
  return values;
}

void GridVariables::Store(const LanePlace& named, const LaneValues& values, const LaneMask& mask) {
  if (refusal_.given()) return;
  LanePlace place = Behind(named);
  if (place.memory < 0) {
    LaneValues* const held = Held(place.variable);
    if (held == nullptr) return;
    if (values.memory >= 0) held->memory = values.memory, held->width = values.width;
    if (named.part < 0) return held->Take(values, mask);
    const auto part = static_cast<std::size_t>(named.part);
    if (part >= held->parts.size()) held->parts.resize(part + 1, UnknownLanes(lanes_));
    return held->parts[part].Take(values, mask);
  }
  if (named.part >= 0) {
    for (std::int64_t& index : place.index) index += named.part;
    place.width = 1;
  }
  if (place.width == 1) return memories_.Store(place.memory, place.index, values, mask, place.access);
  if (values.parts.size() != static_cast<std::size_t>(place.width)) return refusal_.Add("it stores other vectors than it has");
  for (int part = 0; part < place.width && IsAligned(place, mask); ++part) {
    std::vector<std::int64_t> index = place.index;
    for (std::int64_t& one : index) one += part;
    memories_.Store(place.memory, index, values.parts[static_cast<std::size_t>(part)], mask, place.access);
  }
}

}  // namespace evo
