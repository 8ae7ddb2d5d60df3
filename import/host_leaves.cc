#include "import/host_leaves.h"

namespace evo {

HostExpression HostLeaves::Add(const HostLeaf& leaf) {
  const auto [entry, added] = labels_.try_emplace({leaf.function, leaf.name}, leaf.name);
  if (added) {
    // The same name and value elsewhere, such as n of main and of its callee, is the same thing.
    for (int copy = 2; leaves_.contains(entry->second); ++copy) {
      if (leaves_.at(entry->second).value == leaf.value) return HostExpression::Name(entry->second);
      entry->second = leaf.name + "_" + std::to_string(copy);
    }
    leaves_[entry->second] = leaf;
  }
  return Equal(entry->second);
}

// The label, or the one that the host demands to be equal.
HostExpression HostLeaves::Equal(const std::string& label) const {
  const auto equal = equal_.find(label);
  return HostExpression::Name(equal == equal_.end() ? label : equal->second);
}

std::optional<HostExpression> HostLeaves::Component(const std::string& name, int function) const {
  const auto label = labels_.find({function, name});
  if (label == labels_.end() || leaves_.at(label->second).origin != HostLeaf::Origin::kComponent) return std::nullopt;
  return Equal(label->second);
}

Variables HostLeaves::Values() const {
  Variables values;
  for (const auto& [label, leaf] : leaves_) {
    if (leaf.value) values[label] = *leaf.value;
  }
  return values;
}

}  // namespace evo
