// How a GridRun declares, loads, stores and calls.
#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/fingerprint.h"
#include "mutators/analysis/grid_run.h"
#include "mutators/analysis/integer_arithmetic.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// How deep functions of the source call each other.
constexpr int kMostGridCalls = 6;

std::int64_t ProductOf(const std::vector<long long>& extents) {
  std::int64_t product = 1;
  for (const long long extent : extents) product *= extent;
  return product;
}

bool LoadsByPointer(std::string_view callee) {
  return callee == "__ldg" || callee == "__ldcg" || callee == "__ldca" || callee == "__ldcs" || callee == "__ldlu";
}

}  // namespace

void GridRun::Declare(int variable, const Mask& mask) {
  const SyntaxNode& node = tree_.node(variable);
  if (IsShared(tree_, variable) || node.type.ends_with("]")) return DeclareArray(variable, mask);
  const auto& children = node.children;
  const int value = children.empty() || tree_.node(children.back()).type.empty() ? -1 : children.back();
  const bool typed = value >= 0 && tree_.node(value).kind_name != "TypeRef";
  if (node.type.ends_with("&") && typed) {
    aliases_[variable] = PlaceOf(value, mask);
    return;
  }
  const LaneValues values = typed ? Converted(Evaluate(value, mask), tree_.node(value).type, node.type, value, mask)
                                  : LaneValues(lanes_, 0, Knowledge::kUnknown);
  if (refused()) return;
  // Lanes that do not come here keep what they have.
  LaneValues& held = variables_.try_emplace(variable, lanes_, 0, Knowledge::kUnknown).first->second;
  held.memory = values.memory;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    held.numbers[lane] = values.numbers[lane];
    held.known[lane] = values.known[lane];
  }
}

void GridRun::DeclareArray(int variable, const Mask& mask) {
  const SyntaxNode& node = tree_.node(variable);
  const bool shared = IsShared(tree_, variable);
  const auto again = arrays_.find(variable);
  if (shared && again != arrays_.end()) return;
  const std::string element = PlainType(node.type.substr(0, node.type.find('[')));
  std::int64_t elements = ProductOf(ExtentsOf(node.type));
  if (node.type.ends_with("[]")) elements = dynamic_bytes_ / std::max(1, SizeOf(element));
  // Extents are those of the present parameters.
  const bool known = setting_->present || node.type.ends_with("[]") || !node.type.ends_with("]");
  if (again == arrays_.end()) {
    arrays_[variable] = static_cast<int>(memories_.size());
    memories_.push_back({node.name, element, true, !shared, known ? elements : -1, -1, {}});
  } else {
    memories_[static_cast<std::size_t>(again->second)].cells.clear();
  }
  for (const int child : node.children) {
    if (tree_.node(child).kind_name != "InitListExpr") continue;
    Place place{-1, arrays_[variable], {}};
    const auto& values = tree_.node(child).children;
    for (std::int64_t i = 0; i < elements && !refused(); ++i) {
      place.index.assign(lanes_, i);
      const bool given = static_cast<std::size_t>(i) < values.size();
      Store(place, given ? Evaluate(values[static_cast<std::size_t>(i)], mask) : LaneValues(lanes_), mask);
    }
  }
}

GridAccess GridRun::Now(std::size_t lane) const {
  return {launch_, block_, phase_, warp_phases_[lane / 32], static_cast<int>(lane)};
}

// Whether nothing orders another thread's access and one of this lane now.
bool GridRun::Conflicts(const GridAccess& other, std::size_t lane) const {
  const int own = static_cast<int>(lane);
  if (other.launch != launch_) return false;
  if (other.block != block_) return true;
  if (other.phase != phase_ || other.lane == own) return false;
  const bool same_warp = other.lane >= 0 && other.lane / 32 == own / 32;
  return !same_warp || other.warp_phase == warp_phases_[lane / 32];
}

GridCell* GridRun::CellAt(int memory, std::int64_t index, std::size_t lane) {
  GridMemory& one = memories_[static_cast<std::size_t>(memory)];
  if (index < 0 || index >= kMostGridCells || (one.elements >= 0 && index >= one.elements)) {
    Refuse(fmt::format("it reads or writes outside of {}", one.name));
    return nullptr;
  }
  if (one.local) index = index * static_cast<std::int64_t>(lanes_) + static_cast<std::int64_t>(lane);
  const std::size_t old = one.cells.size(), at = static_cast<std::size_t>(index);
  if (at < old) return &one.cells[at];
  one.cells.resize(std::max(at + 1, one.local || one.elements < 0 ? at + 1 : static_cast<std::size_t>(one.elements)));
  for (std::size_t i = old; one.fingerprints >= 0 && i < one.cells.size(); ++i) {
    one.cells[i].number = static_cast<std::int64_t>(FingerprintOf(one.fingerprints + static_cast<std::int64_t>(i)));
    one.cells[i].known = Knowledge::kElements;
  }
  return &one.cells[at];
}

GridRun::Place GridRun::PlaceOf(int expression, const Mask& mask) {
  expression = WithoutParentheses(tree_, expression);
  Place place;
  if (const int variable = NamedDeclaration(tree_, expression); variable >= 0) {
    if (const auto alias = aliases_.find(variable); alias != aliases_.end()) return alias->second;
    if (tree_.node(variable).kind_name == "VarDecl" && IsShared(tree_, variable)) {
      if (!arrays_.contains(variable)) DeclareArray(variable, mask);
      place.memory = arrays_[variable];
      place.index.assign(lanes_, 0);
      return place;
    }
    place.variable = variable;
    return place;
  }
  const SyntaxNode& node = tree_.node(expression);
  LaneValues pointer;
  if (kinds_[static_cast<std::size_t>(expression)] == Kind::kSubscript && node.children.size() == 2) {
    const LaneValues base = Evaluate(node.children[0], mask);
    pointer = Computed(expression, "+", base, Evaluate(node.children[1], mask), mask);
  } else if (operators_[static_cast<std::size_t>(expression)] == "*" && node.children.size() == 1) {
    pointer = Evaluate(node.children[0], mask);
  }
  if (pointer.memory < 0) {
    Refuse(fmt::format("{} is not understood", Quoted(expression)));
    return place;
  }
  for (std::size_t lane = 0; lane < lanes_ && !refused(); ++lane) {
    if (mask[lane] && pointer.known[lane] != Knowledge::kKnown)
      Refuse(fmt::format("data decides the place {}", Quoted(expression)));
  }
  place.memory = pointer.memory;
  place.index = std::move(pointer.numbers);
  return place;
}

LaneValues GridRun::Load(const Place& place, const Mask& mask) {
  LaneValues values(lanes_, 0, Knowledge::kUnknown);
  if (refused()) return values;
  if (place.memory < 0) {
    const auto held = variables_.find(place.variable);
    if (held == variables_.end()) return Refuse(fmt::format("`{}` is not understood", tree_.node(place.variable).name));
    return held->second;
  }
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    GridCell* const cell = CellAt(place.memory, place.index[lane], lane);
    if (cell == nullptr) break;
    values.numbers[lane] = cell->number;
    values.known[lane] = cell->known;
    const GridMemory& memory = memories_[static_cast<std::size_t>(place.memory)];
    if (memory.local) continue;
    if (Conflicts(cell->write, lane)) return Refuse(fmt::format("`{}` is read while another thread writes it", memory.name));
    GridAccess now = Now(lane);
    const GridAccess& old = cell->read;
    if (old.launch == launch_ && (old.block != block_ || old.block < 0)) now.block = -2;
    if (old.launch == launch_ && old.block == block_ && Conflicts(old, lane)) now.lane = -2;
    cell->read = now;
  }
  return values;
}

void GridRun::Store(const Place& place, const LaneValues& values, const Mask& mask) {
  if (refused()) return;
  if (place.memory < 0) {
    const auto held = variables_.find(place.variable);
    if (held == variables_.end()) {
      Refuse(fmt::format("`{}` is not understood", tree_.node(place.variable).name));
      return;
    }
    if (values.memory >= 0) held->second.memory = values.memory;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (!mask[lane]) continue;
      held->second.numbers[lane] = values.numbers[lane];
      held->second.known[lane] = values.known[lane];
    }
    return;
  }
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    GridCell* const cell = CellAt(place.memory, place.index[lane], lane);
    if (cell == nullptr) return;
    const GridMemory& memory = memories_[static_cast<std::size_t>(place.memory)];
    if (!memory.local && (Conflicts(cell->write, lane) || Conflicts(cell->read, lane))) {
      Refuse(fmt::format("threads race for `{}`", memory.name));
      return;
    }
    cell->number = values.numbers[lane];
    cell->known = values.known[lane];
    cell->write = Now(lane);
  }
}

LaneValues GridRun::Call(int expression, const Mask& mask) {
  const auto& parts = tree_.node(expression).children;
  if (parts.empty()) return Refuse(fmt::format("{} is not understood", Quoted(expression)));
  const int function = NamedDeclaration(tree_, parts.front());
  const std::vector<int> arguments(parts.begin() + 1, parts.end());
  if (function >= 0 && tree_.node(function).kind_name == "FunctionDecl") return CallDefined(function, arguments, mask);
  const std::string_view callee = LibraryCallee(tree_, expression);
  if (!callee.empty()) return CallKnown(expression, callee, arguments, mask);
  return Refuse(fmt::format("{} is not understood", Quoted(expression)));
}

LaneValues GridRun::CallDefined(int function, const std::vector<int>& arguments, const Mask& mask) {
  const SyntaxNode& called = tree_.node(function);
  const bool defined = !called.children.empty() && tree_.node(called.children.back()).kind_name == "CompoundStmt";
  std::vector<int> parameters;
  for (const int child : called.children) {
    if (tree_.node(child).kind_name == "ParmDecl") parameters.push_back(child);
  }
  if (!defined || depth_ >= kMostGridCalls || parameters.size() != arguments.size())
    return Refuse(fmt::format("the function {} is not understood", called.name));
  std::vector<LaneValues> values(arguments.size());
  std::vector<Place> places(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& type = tree_.node(parameters[i]).type;
    if (type.ends_with("&") && !type.starts_with("const "))
      places[i] = PlaceOf(arguments[i], mask);
    else
      values[i] = Converted(Evaluate(arguments[i], mask), tree_.node(arguments[i]).type, type, arguments[i], mask);
  }
  if (refused()) return LaneValues(lanes_, 0, Knowledge::kUnknown);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    aliases_.erase(parameters[i]);
    if (places[i].memory >= 0 || places[i].variable >= 0)
      aliases_[parameters[i]] = std::move(places[i]);
    else
      variables_[parameters[i]] = std::move(values[i]);
  }
  const Mask off = off_;
  LaneValues outer = std::exchange(returned_, LaneValues(lanes_, 0, Knowledge::kUnknown));
  ++depth_;
  Execute(called.children.back(), mask);
  --depth_;
  off_ = off;
  return std::exchange(returned_, std::move(outer));
}

LaneValues GridRun::CallKnown(int expression, std::string_view callee, const std::vector<int>& arguments, const Mask& mask) {
  const LaneValues nothing(lanes_, 0, Knowledge::kUnknown);
  if (callee == "__syncthreads") return Barrier(mask), nothing;
  if (callee == "__syncwarp") return WarpBarrier(mask), nothing;
  if (callee.starts_with("__threadfence")) return nothing;
  if (callee.starts_with("__shfl") && callee.ends_with("_sync") && arguments.size() >= 3) return Shuffle(callee, arguments, mask);
  if (LoadsByPointer(callee) && arguments.size() == 1) {
    LaneValues pointer = Evaluate(arguments.front(), mask);
    if (pointer.memory >= 0) return Load({-1, pointer.memory, std::move(pointer.numbers)}, mask);
  }
  if ((callee == "min" || callee == "max") && arguments.size() == 2) {
    LaneValues a = Evaluate(arguments[0], mask);
    const LaneValues b = Evaluate(arguments[1], mask);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (!mask[lane]) continue;
      a.numbers[lane] = callee == "min" ? std::min(a.numbers[lane], b.numbers[lane]) : std::max(a.numbers[lane], b.numbers[lane]);
      if (a.known[lane] == Knowledge::kKnown && b.known[lane] == Knowledge::kKnown) continue;
      Unknown(expression);
      a.known[lane] = Knowledge::kUnknown;
    }
    return a;
  }
  return Refuse(fmt::format("it calls {}, which is not known here", callee));
}

LaneValues GridRun::Shuffle(std::string_view callee, const std::vector<int>& arguments, const Mask& mask) {
  const LaneValues values = Evaluate(arguments[1], mask), by = Evaluate(arguments[2], mask);
  const LaneValues width = arguments.size() > 3 ? Evaluate(arguments[3], mask) : LaneValues(lanes_, 32);
  LaneValues result(lanes_, 0, Knowledge::kUnknown);
  for (std::size_t lane = 0; lane < lanes_ && !refused(); ++lane) {
    if (!mask[lane]) continue;
    const std::int64_t size = width.numbers[lane], own = static_cast<std::int64_t>(lane % 32), step = by.numbers[lane];
    if (by.known[lane] != Knowledge::kKnown || size < 1 || size > 32 || 32 % size != 0)
      return Refuse(fmt::format("the lanes of {} are not understood", callee));
    const std::int64_t first = own / size * size;
    std::int64_t from = own;
    if (callee == "__shfl_up_sync" && own - step >= first) from = own - step;
    if (callee == "__shfl_down_sync" && own + step < first + size) from = own + step;
    if (callee == "__shfl_xor_sync") from = (own ^ step) < first + size ? own ^ step : own;
    if (callee == "__shfl_sync") from = first + ((step % size) + size) % size;
    const std::size_t source = lane - static_cast<std::size_t>(own) + static_cast<std::size_t>(from);
    // A lane that does not take part gives nothing that is defined.
    if (source >= lanes_ || !mask[source]) continue;
    result.numbers[lane] = values.numbers[source];
    result.known[lane] = values.known[source];
  }
  return result;
}

}  // namespace evo
