#include "mutators/analysis/block_runs/stored_parts.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

bool StoredParts::Compute(int variable, int value, const LaneMask& mask) {
  auto& [parts, declarations] = computed_[variable];
  parts.clear();
  declarations = {tree_.node(variable).parent};
  return !elements_.IsWritten(variable) && Find(value, mask, parts, declarations) && !parts.empty();
}

// Whether a node is a partial result, spelled as a variable, an element of shared memory or a member of one.
bool StoredParts::IsPart(int node) const {
  const bool variable = tree_.node(node).kind_name == "DeclRefExpr" && elements_.IsPartial(tree_.node(node).refers_to);
  return variable || SharedArrayOf(tree_, node) >= 0;
}

// The smallest expression that has all partial results of another one; that one itself if it has none.
int StoredParts::Within(int value) const {
  int data = -1;
  for (const int node : Subtree(tree_, value)) {
    if (!IsPart(node) || (data >= 0 && IsWithin(tree_, node, data))) continue;
    if (data < 0) data = node;
    while (!IsWithin(tree_, node, data)) data = tree_.node(data).parent;
  }
  // The whole of `s[i][j].x` and of `__popc(votes)`.
  const auto goes_on = [&](int node) {
    const int parent = tree_.node(node).parent;
    const std::string& kind = tree_.node(parent).kind_name;
    const bool row = tree_.node(node).type.ends_with("]") && kind == "ArraySubscriptExpr";
    return node != value && (row || kind == "MemberRefExpr" || LibraryCallee(tree_, parent) == "__popc");
  };
  while (data >= 0 && goes_on(data)) data = tree_.node(data).parent;
  return data < 0 ? value : data;
}

// Of a value that is stored only its elements are known: `sum / n` has those of `sum`, `squares / n - mean * mean` those of
// `squares` and of what `mean` is computed of. False, or refused, if there are some that are not understood.
bool StoredParts::Find(int expression, const LaneMask& mask, Parts& parts, std::set<int>& declarations) {
  const int data = Within(expression);
  const Refusal before = refusal_;
  const Partials values = data_.Evaluate(data, mask);
  bool whole = !refusal_.given();
  for (std::size_t lane = 0; lane < mask.size() && whole; ++lane)
    whole = !mask[lane] || std::popcount(values[lane].combines) <= 1;
  if (whole) {
    parts.emplace_back(data, values);
    return true;
  }
  const auto computed = computed_.find(NamedDeclaration(tree_, data));
  if (computed != computed_.end()) {
    refusal_ = before;
    parts.insert(parts.end(), computed->second.first.begin(), computed->second.first.end());
    declarations.insert(computed->second.second.begin(), computed->second.second.end());
    return true;
  }
  bool any = false;
  const Refusal why = std::exchange(refusal_, before);
  for (const int child : tree_.node(data).children) {
    const auto inner = Subtree(tree_, child);
    if (IsPart(data) || std::none_of(inner.begin(), inner.end(), [&](int node) { return IsPart(node); })) continue;
    any = true;
    if (!Find(child, mask, parts, declarations)) return false;
  }
  if (any) return true;
  refusal_ = why;
  refusal_.Add("it combines in more than one way");
  return false;
}

}  // namespace evo
