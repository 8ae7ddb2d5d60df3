#include "mutators/analysis/stencils/stencil_tables.h"

#include <algorithm>
#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Elements that a thread may keep.
constexpr std::int64_t kMostWeights = 16;

}  // namespace

bool ReadAsTable(const StencilLaunch& launch, const Stencil::Table& table) {
  for (const StencilThread& thread : launch.threads) {
    const StencilPlace place = launch.PlaceOf(thread.element);
    bool reads = true;
    for (std::size_t axis = 0; axis < launch.dimensions; ++axis) {
      const Stencil::Range& range = table.readers[axis];
      reads &= place[axis] >= range.LowIn(launch.setting) && place[axis] < launch.setting.ValueOf(range.end.launch);
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

// Whether each expression names an element of the buffer, in the kernel itself.
bool StencilTables::AreElementsOf(const Stencil::Table& table, int kernel) const {
  return std::all_of(table.nodes.begin(), table.nodes.end(), [&](int node) {
    const SyntaxNode& read = tree_.node(node);
    return read.kind_name == "ArraySubscriptExpr" && read.function == kernel &&
           NamedDeclaration(tree_, read.children[0]) == table.buffer;
  });
}

std::optional<Stencil::Table> StencilTables::TableOf(int buffer, int kernel) const {
  Stencil::Table table;
  table.buffer = buffer;
  std::array<StencilBox, 2> boxes;
  std::set<std::int64_t> elements;
  for (std::size_t i = 0; i < 2; ++i) {
    for (const StencilThread& thread : launches_[i].threads) {
      bool reads = false;
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (touch.memory != buffer) continue;
        reads = true;
        elements.insert(touch.index);
        table.nodes.insert(touch.node);
        if (static_cast<std::int64_t>(elements.size()) > kMostWeights) return std::nullopt;
      }
      if (reads) boxes[i].Add(launches_[i].PlaceOf(thread.element));
    }
    if (boxes[i].IsEmpty()) return std::nullopt;
  }
  for (std::size_t axis = 0; axis < launches_[0].dimensions; ++axis) {
    const auto range = StencilRangeOf(numbers_, boxes, axis);
    if (!range) return std::nullopt;
    table.readers[axis] = *range;
  }
  if (!AreElementsOf(table, kernel)) return std::nullopt;
  table.low = *elements.begin();
  table.count = static_cast<std::int64_t>(elements.size());
  if (!ReadAsTable(launches_[0], table) || !ReadAsTable(launches_[1], table)) return std::nullopt;
  return table;
}

void StencilTables::AddTo(Stencil& found) const {
  std::set<int> buffers;
  for (const StencilThread& thread : launches_[0].threads) {
    for (const ThreadTrace::Touch& touch : thread.touches) buffers.insert(touch.memory);
  }
  for (const int buffer : buffers) {
    const bool near = std::find(found.buffers.begin(), found.buffers.end(), buffer) != found.buffers.end();
    if (near || stored_.contains(buffer)) continue;
    if (auto table = TableOf(buffer, found.kernel)) found.tables.push_back(std::move(*table));
  }
}

}  // namespace evo
