#include "evaluator/timer/fresh_contents.h"

#include <algorithm>

namespace evo {
namespace {

using View = InputSet::View;

// How the contents of an input may be made of pieces.
enum class Pieces { kOfAnyTwo, kRowsOfAnyTwo, kOfOne, kWhole };

Pieces PiecesOf(const Argument& argument) {
  using Kind = Generator::Kind;
  switch (argument.generators.front().kind) {
    case Kind::kNormal:
    case Kind::kUniform:
    case Kind::kConstant:
    case Kind::kSparse:
    case Kind::kIndex:
      return Pieces::kOfAnyTwo;
    case Kind::kOneHot:
      return Pieces::kRowsOfAnyTwo;
    case Kind::kPermutation:
      return Pieces::kOfOne;
    default:
      return Pieces::kWhole;
  }
}

bool IsDerived(const View& view) { return !view.argument->derived.empty(); }
bool IsInput(const View& view) { return view.contents != 0 && view.place.bytes > 0; }

// The bytes that stay together: an element, or a row.
std::size_t UnitBytes(const View& view, const Variables& variables, Pieces pieces) {
  const std::size_t element = ByteSize(view.argument->dtype);
  if (pieces != Pieces::kRowsOfAnyTwo) return element;
  return element * static_cast<std::size_t>(view.argument->shape.back().EvaluateInteger(variables));
}

// Where contents of `units` units are cut in two, and where in its source either piece begins.
struct Cut {
  std::size_t length = 0;  // of the first piece; all of it if there are fewer than two units
  std::size_t first = 0;
  std::size_t second = 0;
};

Cut DrawCut(std::size_t units, Pieces pieces, Rng& rng) {
  if (units < 2) return {units, 0, 0};
  const std::size_t length = 1 + rng.Below(units - 1);
  const std::size_t rest = units - length;
  if (pieces == Pieces::kWhole) return {length, 0, length};
  if (pieces == Pieces::kOfOne) return {length, rest, 0};
  // No value stays where it was.
  return {length, 1 + rng.Below(rest), rng.Below(length)};
}

void Append(std::vector<DeviceCopy>& copies, const View& view, std::size_t unit, const Cut& cut, Address first, Address second) {
  const std::size_t length = cut.length * unit;
  copies.push_back({view.place.address, first + cut.first * unit, length});
  copies.push_back({view.place.address + length, second + cut.second * unit, view.place.bytes - length});
}

}  // namespace

std::vector<DeviceCopy> SameContents(const InputSet& set, Rng& rng) {
  std::vector<DeviceCopy> copies;
  for (const View& view : set.Views()) {
    if (!IsInput(view)) continue;
    const std::size_t unit = ByteSize(view.argument->dtype);
    Append(copies, view, unit, DrawCut(view.place.bytes / unit, Pieces::kWhole, rng), view.contents, view.contents);
  }
  return copies;
}

std::vector<DeviceCopy> FreshContents(const InputSet& set, std::span<const InputSet* const> sources, Rng& rng) {
  std::vector<DeviceCopy> copies;
  const std::vector<View> views = set.Views();
  // What is derived from other inputs fits them only in one source.
  const bool together = std::any_of(views.begin(), views.end(), IsDerived);
  const std::size_t source = rng.Below(sources.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const View& view = views[i];
    if (!IsInput(view)) continue;
    const Pieces pieces = together ? Pieces::kWhole : PiecesOf(*view.argument);
    const std::size_t first = together ? source : rng.Below(sources.size());
    // Two pieces of one set could hold the same values in another order, and the answer to some tasks is the same for these.
    const bool of_two = pieces == Pieces::kOfAnyTwo || pieces == Pieces::kRowsOfAnyTwo;
    const std::size_t second = of_two && sources.size() > 1 ? first + 1 + rng.Below(sources.size() - 1) : first;
    const std::size_t unit = UnitBytes(view, set.variables(), pieces);
    Append(copies, view, unit, DrawCut(view.place.bytes / unit, pieces, rng), sources[first]->Views()[i].contents,
           sources[second % sources.size()]->Views()[i].contents);
  }
  return copies;
}

DrawnArguments ContentsAfter(DeviceMemory& memory, const Task& task, const InputSet& set, std::span<const DeviceCopy> copies) {
  DrawnArguments contents(task.arguments.size());
  for (const View& view : set.Views()) {
    if (!IsInput(view)) continue;
    const auto of_argument = std::find_if(task.arguments.begin(), task.arguments.end(),
                                          [&](const Argument& argument) { return argument.name == view.argument->name; });
    std::vector<std::byte>& bytes = contents[static_cast<std::size_t>(of_argument - task.arguments.begin())];
    bytes.resize(view.place.bytes);
    for (const DeviceCopy& copy : copies) {
      const std::size_t offset = copy.to - view.place.address;
      if (copy.to < view.place.address || offset >= bytes.size()) continue;
      memory.Read(std::span(bytes).subspan(offset, copy.bytes), copy.from);
    }
  }
  return contents;
}

DeviceStatus RestoreContents(DeviceMemory& memory, const InputSet& set) {
  for (const View& view : set.Views()) {
    if (!IsInput(view)) continue;
    if (DeviceStatus status = memory.Copy({view.place.address, view.contents, view.place.bytes}); !status.ok()) return status;
  }
  return {};
}

}  // namespace evo
