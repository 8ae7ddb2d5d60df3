#include "mutators/analysis/block_runs/group_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace evo {
namespace {

constexpr std::int64_t kMostGroupCells = 16384;  // elements of an array in shared memory

}  // namespace

GroupMemory::GroupMemory(const SyntaxTree& tree, const GroupNumbers& make, Refusal& refusal)
    : tree_(tree), make_(make), refusal_(refusal) {
  order_.StartLaunch();
  order_.StartBlock(make_.lanes());
}

GroupMemory::Cell* GroupMemory::CellAt(const GroupPlace& place, std::size_t lane) {
  std::vector<Cell>& cells = arrays_[place.array];
  const std::int64_t index = place.index[lane];
  if (index < 0 || index >= kMostGroupCells) {
    refusal_.Add(fmt::format("an index of `{}` is out of bounds", tree_.node(place.array).name));
    return nullptr;
  }
  if (static_cast<std::size_t>(index) >= cells.size()) cells.resize(static_cast<std::size_t>(index) + 1);
  return &cells[static_cast<std::size_t>(index)];
}

ThreadNumbers GroupMemory::Load(const GroupPlace& place, const LaneMask& mask, bool reads) {
  ThreadNumbers values = make_.Unknown();
  values.of.assign(make_.lanes() * make_.words(), 0);
  for (std::size_t lane = 0; lane < make_.lanes() && !refusal_.given(); ++lane) {
    Cell* const cell = mask[lane] != 0 ? CellAt(place, lane) : nullptr;
    if (cell == nullptr) continue;
    if (reads && !order_.Read(cell->accesses, lane))
      refusal_.Add(fmt::format("`{}` is read while another thread writes it", tree_.node(place.array).name));
    values.numbers[lane] = cell->number;
    values.known[lane] = cell->known ? 1 : 0;
    for (std::size_t word = 0; word < cell->of.size(); ++word) values.of[lane * make_.words() + word] = cell->of[word];
  }
  return values;
}

void GroupMemory::Store(const GroupPlace& place, const ThreadNumbers& values, const LaneMask& mask) {
  for (std::size_t lane = 0; lane < make_.lanes() && !refusal_.given(); ++lane) {
    Cell* const cell = mask[lane] != 0 ? CellAt(place, lane) : nullptr;
    if (cell == nullptr) continue;
    if (!order_.Write(cell->accesses, lane))
      return refusal_.Add(fmt::format("threads race for `{}`", tree_.node(place.array).name));
    cell->number = values.numbers[lane];
    cell->known = values.known[lane] != 0;
    cell->of.clear();
    for (std::size_t word = 0; word < make_.words() && !values.of.empty(); ++word)
      cell->of.push_back(values.of[lane * make_.words() + word]);
  }
}

void GroupMemory::Combine(const GroupPlace& place, std::string_view combine, const ThreadNumbers& values, const LaneMask& mask) {
  for (std::size_t lane = 0; lane < make_.lanes() && !refusal_.given(); ++lane) {
    Cell* const cell = mask[lane] != 0 ? CellAt(place, lane) : nullptr;
    if (cell == nullptr) continue;
    if (!order_.WriteAtomically(cell->accesses, lane))
      return refusal_.Add(fmt::format("threads race for `{}`", tree_.node(place.array).name));
    const double more = values.numbers[lane];
    if (combine == "+") cell->number += more;
    if (combine == "max") cell->number = std::max(cell->number, more);
    if (combine == "min") cell->number = std::min(cell->number, more);
    cell->known = cell->known && values.known[lane] != 0;
    if (cell->of.empty()) cell->of.assign(make_.words(), 0);
    for (std::size_t word = 0; word < make_.words() && !values.of.empty(); ++word)
      cell->of[word] |= values.of[lane * make_.words() + word];
  }
}

}  // namespace evo
