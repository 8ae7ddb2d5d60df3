// Weights: elements that all elements of a box read.
#include <algorithm>

#include "mutators/analysis/source_query.h"
#include "mutators/analysis/stencil_finder.h"

namespace evo {
namespace {

// Elements that a thread may keep.
constexpr std::int64_t kMostWeights = 16;

}  // namespace

// Whether the threads of a launch read all elements of the table where it says so, and none elsewhere.
bool StencilFinder::Agrees(const Launch& launch, const Stencil::Table& table) const {
  for (const Thread& thread : launch.threads) {
    const Place place = PlaceOf(launch, thread.element);
    bool reads = true;
    for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
      const Stencil::Range& range = table.readers[axis];
      reads &= place[axis] >= range.low && place[axis] < ValueOf(range.end, launch.setting);
    }
    std::set<std::int64_t> own;
    for (const ThreadTrace::Touch& touch : thread.touches) {
      if (touch.memory != table.buffer) continue;
      if (!table.nodes.contains(touch.node)) return false;
      own.insert(touch.index);
    }
    if (static_cast<std::int64_t>(own.size()) != (reads ? table.count : 0)) return false;
    if (reads && (*own.begin() != table.low || *own.rbegin() != table.low + table.count - 1)) return false;
  }
  return true;
}

std::optional<Stencil::Table> StencilFinder::TableOf(int buffer) const {
  Stencil::Table table;
  table.buffer = buffer;
  std::optional<Place> low[2], end[2];
  std::set<std::int64_t> elements;
  for (std::size_t i = 0; i < 2; ++i) {
    for (const Thread& thread : launches_[i].threads) {
      bool reads = false;
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (touch.memory != buffer) continue;
        reads = true;
        elements.insert(touch.index);
        table.nodes.insert(touch.node);
        if (static_cast<std::int64_t>(elements.size()) > kMostWeights) return std::nullopt;
      }
      if (!reads) continue;
      const Place place = PlaceOf(launches_[i], thread.element);
      if (!low[i]) low[i] = end[i] = place;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        (*low[i])[axis] = std::min((*low[i])[axis], place[axis]);
        (*end[i])[axis] = std::max((*end[i])[axis], place[axis] + 1);
      }
    }
    if (!low[i]) return std::nullopt;
  }
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    const auto number = NumberOf((*end[0])[axis], (*end[1])[axis]);
    if (!number || (*low[0])[axis] != (*low[1])[axis]) return std::nullopt;
    table.readers[axis] = {(*low[0])[axis], *number};
  }
  for (const int node : table.nodes) {
    const SyntaxNode& read = tree_.node(node);
    if (read.kind_name != "ArraySubscriptExpr" || read.function != found_.kernel ||
        NamedDeclaration(tree_, read.children[0]) != buffer)
      return std::nullopt;
  }
  table.low = *elements.begin();
  table.count = static_cast<std::int64_t>(elements.size());
  if (!Agrees(launches_[0], table) || !Agrees(launches_[1], table)) return std::nullopt;
  return table;
}

void StencilFinder::FindTables() {
  std::set<int> buffers;
  for (const Thread& thread : launches_[0].threads) {
    for (const ThreadTrace::Touch& touch : thread.touches) buffers.insert(touch.memory);
  }
  for (const int buffer : buffers) {
    const bool near = std::find(found_.buffers.begin(), found_.buffers.end(), buffer) != found_.buffers.end();
    if (near || stored_.contains(buffer)) continue;
    if (auto table = TableOf(buffer)) found_.tables.push_back(std::move(*table));
  }
}

}  // namespace evo
