// Where a group of threads reads and stores (block_numbers.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mutators/analysis/block_runs/block_numbers.h"
#include "mutators/analysis/source/atomic_combination.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

bool IsTypeOfReals(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return plain == "float" || plain == "double";
}

}  // namespace

void BlockNumbers::Atomic(int call, const LaneMask& mask) {
  const auto& parts = tree_.node(call).children;
  const std::string combine = AtomicCombine(tree_, call);
  const int target = parts.size() > 2 ? WithoutParentheses(tree_, parts[1]) : -1;
  const bool known = combine == "+" || combine == "max" || combine == "min";
  if (target < 0 || tree_.Operator(target) != "&" || !selections_.empty() || !known) return void(NotUnderstood(call));
  const ThreadNumbers values = Evaluate(parts[2], mask);
  const auto place = PlaceOf(tree_.node(target).children.front(), mask);
  if (!place) return void(NotUnderstood(call));
  memory_.Combine(*place, combine, values, mask);
}

std::optional<GroupPlace> BlockNumbers::PlaceOf(int node, const LaneMask& mask) {
  node = WithoutParentheses(tree_, node);
  GroupPlace place{-1, std::vector<std::int64_t>(make_.lanes())};
  std::vector<int> subscripts;
  while (tree_.node(node).kind_name == "ArraySubscriptExpr" && tree_.node(node).children.size() == 2) {
    subscripts.push_back(tree_.node(node).children[1]);
    node = WithoutParentheses(tree_, tree_.node(node).children[0]);
  }
  const int named = NamedDeclaration(tree_, node);
  if (named < 0 || tree_.node(named).kind_name != "VarDecl") return std::nullopt;
  std::vector<long long> extents{0};
  if (pointers_.contains(named)) {
    place = pointers_.at(named);
  } else if (IsShared(tree_, named)) {
    place.array = named;
    extents = ExtentsOf(tree_.node(named).type);
  }
  if (place.array < 0 || extents.size() != subscripts.size()) return std::nullopt;
  long long stride = 1;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const ThreadNumbers along = Evaluate(subscripts[i], mask);
    const long long extent = extents[extents.size() - 1 - i];
    for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
      if (mask[lane] == 0) continue;
      const auto index = static_cast<std::int64_t>(along.numbers[lane]);
      if (along.known[lane] == 0 || make_.IsOfData(along, mask)) {
        NotUnderstood(subscripts[i]);
        return std::nullopt;
      }
      if (extent > 0 && (index < 0 || index >= extent)) {
        refusal_.Add(fmt::format("an index of `{}` is out of bounds", tree_.node(named).name));
        return std::nullopt;
      }
      place.index[lane] += index * stride;
    }
    stride *= extent;
  }
  return place;
}

void BlockNumbers::Store(int target, ThreadNumbers values, const LaneMask& mask) {
  const int node = WithoutParentheses(tree_, target);
  const int variable = NamedDeclaration(tree_, node);
  const bool local = variable >= 0 && tree_.node(variable).kind_name == "VarDecl" && !IsShared(tree_, variable);
  const std::string& type = tree_.node(node).type;
  if (!IsTypeOfReals(type) && make_.IsOfData(values, mask)) {
    const bool whole = std::all_of(values.numbers.begin(), values.numbers.end(), [](double x) { return x == std::trunc(x); });
    if (!IsIntegerType(type) || !whole) return void(NotUnderstood(target));
  }
  if (!selections_.empty()) {
    // The others keep what they have.
    const ThreadNumbers old = Evaluate(node, mask);
    const LaneMask kept = Without(LaneMask(make_.lanes(), 1), selections_.back().yes);
    const std::vector<std::uint64_t> of = values.of;
    make_.Take(values, old, kept);
    make_.Mix(values, of);
    make_.Mix(values, old.of);
    make_.Mix(values, selections_.back().of);
  }
  if (refusal_.given()) return;
  if (local) {
    if (tree_.node(variable).type.find_first_of("*[") != std::string::npos) return void(NotUnderstood(target));
    return make_.Take(variables_.try_emplace(variable, make_.Unknown()).first->second, values, mask);
  }
  const auto place = PlaceOf(node, mask);
  if (!place) return void(NotUnderstood(target));
  memory_.Store(*place, values, mask);
}

}  // namespace evo
