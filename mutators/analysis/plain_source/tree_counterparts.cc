#include "mutators/analysis/plain_source/tree_counterparts.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mutators/analysis/source/source_query.h"

namespace evo {

int Counterparts::Of(int node) const {
  const int parent = plain_.node(node).parent;
  if (parent < 0) return 0;
  const bool bounds = node == LaunchBoundsOf(plain_, parent);
  if (bounds || plain_.node(node).kind_name == "attribute(global)") {
    const int function = Of(parent);
    if (function < 0) return -1;
    if (bounds) return LaunchBoundsOf(source_, function);
    for (const int child : source_.node(function).children) {
      if (source_.node(child).kind_name == "attribute(global)") return child;
    }
    return -1;
  }
  const bool parameter = plain_.node(node).kind_name == "ParmDecl";
  if (parent != 0 && !parameter) return InGroup(node);
  const int to = parent == 0 ? 0 : Of(parent);
  if (to < 0) return -1;
  const auto listed = [&](const SyntaxTree& tree, int of) {
    std::vector<int> nodes;
    for (const int child : tree.node(of).children) {
      if (parameter ? tree.node(child).kind_name == "ParmDecl" : names_.contains(tree.node(child).name)) nodes.push_back(child);
    }
    return nodes;
  };
  const std::vector<int> from = listed(plain_, parent), in = listed(source_, to);
  if (parameter) {
    // One of them may have parameters more.
    const auto same =
        std::find_if(in.begin(), in.end(), [&](int one) { return source_.node(one).name == plain_.node(node).name; });
    return same == in.end() || plain_.node(node).name.empty() ? -1 : *same;
  }
  const auto at = static_cast<std::size_t>(std::find(from.begin(), from.end(), node) - from.begin());
  if (from.size() != in.size() || at >= in.size() || source_.node(in[at]).name != plain_.node(node).name) return -1;
  return in[at];
}

// The same for what stands in a namespace or behind `extern "C"`: the group, and what has the name in it, in both the only one.
int Counterparts::InGroup(int node) const {
  const int group = plain_.node(node).parent;
  if (plain_.node(group).parent != 0 || plain_.node(node).function == group) return -1;
  const auto only = [](const SyntaxTree& tree, int parent, const SyntaxNode& like) {
    int found = -1, count = 0;
    for (const int child : tree.node(parent).children) {
      if (tree.node(child).kind_name != like.kind_name || tree.node(child).name != like.name) continue;
      found = child;
      ++count;
    }
    return count == 1 ? found : -1;
  };
  const auto same_place = [&](int place) {
    std::vector<int> groups;
    for (const int child : source_.node(0).children) {
      if (source_.node(child).kind_name == plain_.node(group).kind_name && source_.node(child).name == plain_.node(group).name)
        groups.push_back(child);
    }
    return place < static_cast<int>(groups.size()) ? groups[static_cast<std::size_t>(place)] : -1;
  };
  int place = 0, groups = 0;
  for (const int child : plain_.node(0).children) {
    if (plain_.node(child).kind_name != plain_.node(group).kind_name || plain_.node(child).name != plain_.node(group).name)
      continue;
    if (child == group) place = groups;
    ++groups;
  }
  const int to = same_place(place);
  return to < 0 || same_place(groups) >= 0 ? -1 : only(source_, to, plain_.node(node));
}

}  // namespace evo
