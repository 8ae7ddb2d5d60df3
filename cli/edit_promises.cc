#include "cli/edit_promises.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <vector>

#include "core/promise.h"
#include "mutators/mutator_set.h"

namespace evo {
namespace {

// Empty for an edit of the launch line alone.
std::string FunctionOf(const Edit& edit) {
  if (!edit.anchors.empty()) return edit.anchors.front().function;
  return edit.launch.empty() ? "" : edit.launch.front().kernel;
}

std::string NameOf(const Edit& edit) {
  const std::string function = FunctionOf(edit);
  return function.empty() ? edit.op : fmt::format("{} in {}", edit.op, function);
}

}  // namespace

std::string DescribePromises(const Genome& genome) {
  if (genome.edits.empty()) return "no edits";
  const Promises promises = MutatorSet().AllPromises();
  std::vector<std::string> unproven;
  for (const Edit* edit : UnprovenEdits(genome, promises)) unproven.push_back(NameOf(*edit));
  if (!unproven.empty()) return fmt::format("unproven edits: {}", fmt::join(unproven, ", "));
  std::set<Promise> made;
  for (const Edit& edit : genome.edits) made.insert(PromiseOf(promises, edit.op));
  std::vector<std::string_view> names;
  for (const Promise promise : made) names.push_back(ToString(promise));
  return fmt::format("all edits are proven: {}", fmt::join(names, ", "));
}

nlohmann::ordered_json UnprovenJson(const Genome& genome) {
  const Promises promises = MutatorSet().AllPromises();
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Edit* edit : UnprovenEdits(genome, promises))
    list.push_back({{"position", edit - genome.edits.data()}, {"operator", edit->op}, {"function", FunctionOf(*edit)}});
  return list;
}

int CountUnproven(const Genome& genome) { return static_cast<int>(UnprovenEdits(genome, MutatorSet().AllPromises()).size()); }

}  // namespace evo
