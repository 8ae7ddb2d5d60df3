#include "mutators/analysis/grid_runs/grid_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mutators/analysis/numbers/fingerprint.h"

namespace evo {

void GridMemories::AddWorkspace(const std::string& name, std::int64_t elements) {
  memories_.push_back({name, "", true, false, elements, -1, {}});
}

int GridMemories::AddDeviceVariable(const std::string& name, const std::string& type, std::int64_t elements,
                                    std::int64_t initial) {
  memories_.push_back({name, type, true, false, elements, -1, {}});
  GridCell cell;
  cell.number = initial;
  cell.known = Knowledge::kKnown;
  memories_.back().cells.assign(static_cast<std::size_t>(elements), cell);
  return static_cast<int>(memories_.size()) - 1;
}

bool GridMemories::HasOther(int memory, std::int64_t number) const {
  const auto& cells = memories_[static_cast<std::size_t>(memory)].cells;
  const auto is_other = [&](const GridCell& cell) { return cell.known != Knowledge::kKnown || cell.number != number; };
  return std::any_of(cells.begin(), cells.end(), is_other);
}

int GridMemories::Buffer(const std::string& name, const std::string& type, std::int64_t elements) {
  auto found = std::find_if(memories_.begin(), memories_.end(), [&](const GridMemory& one) { return one.name == name; });
  if (found == memories_.end()) {
    const auto number = static_cast<std::int64_t>(memories_.size());
    memories_.push_back({name, type, false, false, elements, number << 40, {}});
    found = memories_.end() - 1;
  }
  if (found->type.empty()) found->type = type;
  if (found->type != type) refusal_.Add(fmt::format("{} is used as {} and as {}", name, found->type, type));
  return static_cast<int>(found - memories_.begin());
}

void GridMemories::Fill(const std::string& buffer, std::int64_t value, std::int64_t elements) {
  auto found = std::find_if(memories_.begin(), memories_.end(), [&](const GridMemory& one) { return one.name == buffer; });
  if (found == memories_.end()) {
    const auto number = static_cast<std::int64_t>(memories_.size());
    memories_.push_back({buffer, "", false, false, elements, number << 40, {}});
    found = memories_.end() - 1;
  }
  if (found->elements > kMostGridCells) return refusal_.Add("its workspaces are large");
  found->filled = found->elements < 0 || found->fingerprints >= 0;
  found->cells.assign(static_cast<std::size_t>(found->filled ? 0 : found->elements), {});
  if (found->filled && value != 0) return refusal_.Add(fmt::format("evo:memset fills {} with {}", buffer, value));
  for (GridCell& cell : found->cells) {
    if (value == 0) cell.known = Knowledge::kKnown;
  }
}

void GridMemories::StartLaunch() {
  order_.StartLaunch();
  published_.StartLaunch();
}

void GridMemories::PassBarrier() {
  order_.PassBarrier();
  published_.PassBarrier();
}

void GridMemories::StartBlock(std::size_t lanes) {
  lanes_ = lanes;
  buffers_ = memories_.size();
  order_.StartBlock(lanes);
  published_.StartBlock(lanes);
}

int GridMemories::AddArray(GridMemory array) {
  memories_.push_back(std::move(array));
  return static_cast<int>(memories_.size()) - 1;
}

GridCell* GridMemories::CellAt(GridMemory& memory, std::int64_t index, std::size_t lane) {
  // Behind the elements of an argument may be one more, such as the total behind offsets; GridMemory::cells tells.
  const std::int64_t most = memory.elements + (memory.fingerprints >= 0 ? 1 : 0);
  if (index < 0 || index >= kMostGridCells || (memory.elements >= 0 && index >= most)) {
    refusal_.Add(fmt::format("it reads or writes outside of {}", memory.name));
    return nullptr;
  }
  if (memory.local) index = index * static_cast<std::int64_t>(lanes_) + static_cast<std::int64_t>(lane);
  const std::size_t old = memory.cells.size(), at = static_cast<std::size_t>(index);
  if (at < old) return &memory.cells[at];
  const bool grows = memory.local || memory.elements < 0;
  memory.cells.resize(std::max(at + 1, grows ? at + 1 : static_cast<std::size_t>(memory.elements)));
  for (std::size_t i = old; memory.fingerprints >= 0 && i < memory.cells.size(); ++i) {
    memory.cells[i].known = memory.filled ? Knowledge::kKnown : Knowledge::kElements;
    if (memory.filled) continue;
    memory.cells[i].number = static_cast<std::int64_t>(FingerprintOf(memory.fingerprints + static_cast<std::int64_t>(i)));
  }
  return &memory.cells[at];
}

// Whether something orders a read and what was written before.
bool GridMemories::MayRead(const GridMemory& memory, GridCell& cell, std::size_t lane, MemoryAccess access) {
  if (memory.local || order_.Read(cell, lane)) return true;
  if (!order_.IsOfAnotherBlock(cell)) return false;
  const bool waits = access == MemoryAccess::kWaiting && cell.flag;
  if (!waits && !published_.Knows(lane, cell.written, access != MemoryAccess::kPlain)) return false;
  if (waits) published_.See(lane, cell.published);
  order_.NoteRead(cell, lane);
  return true;
}

void GridMemories::GoTogether(const GridMemory& memory, MemoryAccess access) {
  if (memory.local || access == MemoryAccess::kPlain) return;
  for (std::size_t warp = 0; warp * kWarpLanes < lanes_; ++warp) order_.PassWarpBarrier(warp);
}

LaneValues GridMemories::Load(int memory, const std::vector<std::int64_t>& index, const LaneMask& mask, MemoryAccess access) {
  LaneValues values = UnknownLanes(lanes_);
  GridMemory& one = memories_[static_cast<std::size_t>(memory)];
  GoTogether(one, access);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    GridCell* const cell = CellAt(one, index[lane], lane);
    if (cell == nullptr) break;
    if (!MayRead(one, *cell, lane, access)) {
      refusal_.Add(fmt::format("`{}` is read while another thread writes it", one.name));
      break;
    }
    values.numbers[lane] = cell->number;
    values.known[lane] = cell->known;
  }
  return values;
}

void GridMemories::Store(int memory, const std::vector<std::int64_t>& index, const LaneValues& values, const LaneMask& mask,
                         MemoryAccess access) {
  GridMemory& one = memories_[static_cast<std::size_t>(memory)];
  GoTogether(one, access);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    GridCell* const cell = CellAt(one, index[lane], lane);
    if (cell == nullptr) return;
    if (!one.local && !order_.Write(*cell, lane)) return refusal_.Add(fmt::format("threads race for `{}`", one.name));
    cell->number = values.numbers[lane];
    cell->known = values.known[lane];
    if (!IsBuffer(memory)) continue;
    cell->flag = access != MemoryAccess::kPlain;
    cell->published = cell->flag ? published_.Publish(lane) : nullptr;
    cell->written = published_.Write(lane);
  }
}

LaneValues GridMemories::Change(AtomicChange change, int memory, const std::vector<std::int64_t>& index, const LaneValues& values,
                                const LaneMask& mask) {
  LaneValues before = UnknownLanes(lanes_);
  GridMemory& one = memories_[static_cast<std::size_t>(memory)];
  std::map<std::int64_t, int> times;
  for (std::size_t lane = 0; lane < lanes_; ++lane) times[index[lane]] += mask[lane] != 0;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    GridCell* const cell = CellAt(one, index[lane], lane);
    if (cell == nullptr) return before;
    if (times[index[lane]] == 1) {
      before.numbers[lane] = cell->number;
      before.known[lane] = cell->known;
    }
    has_tickets_ = has_tickets_ || (IsBuffer(memory) && order_.IsOfAnotherBlock(*cell));
    if (!order_.WriteAtomically(*cell, lane)) {
      refusal_.Add(fmt::format("threads race for `{}`", one.name));
      return before;
    }
    if (change == AtomicChange::kIncrement) {
      const bool known = cell->known == Knowledge::kKnown && values.known[lane] == Knowledge::kKnown;
      cell->number = cell->number >= values.numbers[lane] ? 0 : cell->number + 1;
      if (!known) cell->known = Knowledge::kUnknown;
    } else if (change == AtomicChange::kExchange) {
      cell->number = values.numbers[lane];
      cell->known = times[index[lane]] == 1 ? values.known[lane] : Knowledge::kUnknown;
    } else {
      cell->number =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(cell->number) + static_cast<std::uint64_t>(values.numbers[lane]));
      cell->known = std::max(cell->known, values.known[lane]);
    }
    if (!IsBuffer(memory)) continue;
    cell->flag = true;
    cell->published = published_.PublishAfter(lane, cell->published);
    cell->written = published_.Write(lane);
  }
  return before;
}

}  // namespace evo
