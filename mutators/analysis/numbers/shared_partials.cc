#include "mutators/analysis/numbers/shared_partials.h"

#include <fmt/format.h>

#include "mutators/analysis/numbers/fingerprint.h"

namespace evo {
namespace {

constexpr std::int64_t kMostSharedCells = 16384;  // elements of an array in shared memory

}  // namespace

std::uint64_t ElementFingerprint(std::size_t kind, std::int64_t turn, std::int64_t number) {
  // The same for all kinds up to a factor, so that several of them together are the same set times a sum of factors.
  const std::uint64_t factor = kind == 0 ? 1 : FingerprintOf(-static_cast<std::int64_t>(kind)) | 1u;
  return factor * FingerprintOf(number + (turn << 40));
}

Partial Together(const Partial& a, const Partial& b, std::uint32_t combine, Refusal& refusal) {
  if (!a.defined || !b.defined) refusal.Add("a value is combined that was never stored");
  return {a.elements + b.elements, a.count + b.count,      true, a.kinds | b.kinds, a.combines | b.combines | combine,
          a.types | b.types,       a.initials | b.initials};
}

SharedPartials::SharedPartials(std::size_t lanes, Refusal& refusal) : refusal_(refusal) {
  order_.StartLaunch();
  order_.StartBlock(lanes);
}

SharedPartials::Cell* SharedPartials::CellAt(const SharedPlace& place, std::size_t lane) {
  std::vector<Cell>& cells = arrays_[place.array];
  const std::int64_t index = place.index[lane];
  if (index < 0 || index >= kMostSharedCells) {
    refusal_.Add(fmt::format("an index of `{}` is out of bounds", place.name));
    return nullptr;
  }
  if (static_cast<std::size_t>(index) >= cells.size()) cells.resize(static_cast<std::size_t>(index) + 1);
  return &cells[static_cast<std::size_t>(index)];
}

Partials SharedPartials::Read(const SharedPlace& place, const LaneMask& mask) {
  Partials values(mask.size());
  for (std::size_t lane = 0; lane < mask.size() && !refusal_.given(); ++lane) {
    if (!mask[lane]) continue;
    Cell* const cell = CellAt(place, lane);
    if (cell == nullptr) break;
    if (!order_.Read(cell->accesses, lane)) refusal_.Add(fmt::format("`{}` is read while another thread writes it", place.name));
    values[lane] = cell->value;
  }
  return values;
}

void SharedPartials::Write(const SharedPlace& place, const Partials& values, const LaneMask& mask) {
  for (std::size_t lane = 0; lane < mask.size() && !refusal_.given(); ++lane) {
    if (!mask[lane]) continue;
    Cell* const cell = CellAt(place, lane);
    if (cell == nullptr) return;
    if (!order_.Write(cell->accesses, lane)) refusal_.Add(fmt::format("threads race for `{}`", place.name));
    cell->value = values[lane];
  }
}

void SharedPartials::Add(const SharedPlace& place, const Partials& values, std::uint32_t combine, const LaneMask& mask) {
  for (std::size_t lane = 0; lane < mask.size() && !refusal_.given(); ++lane) {
    if (!mask[lane]) continue;
    Cell* const cell = CellAt(place, lane);
    if (cell == nullptr) return;
    cell->value = Together(cell->value, values[lane], combine, refusal_);
    if (!order_.WriteAtomically(cell->accesses, lane)) refusal_.Add(fmt::format("threads race for `{}`", place.name));
  }
}

}  // namespace evo
