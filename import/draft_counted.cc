// Which elements of an output the host looks at.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/draft_parts.h"
#include "import/pointer_mentions.h"

namespace evo {
namespace {

using Pointer = HostCode::Pointer;

constexpr int kMostResults = 1;  // element in which a reduction in place leaves its result
constexpr int kLeastPart = 8;    // an eighth of an output, for parts that grow with it

}  // namespace

// The loop of launches that exchanges the buffer with another one; nullptr if there is none.
const TakenLoop* DraftBuffers::SwapsOf(const DraftBuffer& buffer) const {
  for (const TakenLoop& loop : c_.loops) {
    for (const auto& [a, b] : loop.swaps) {
      if (a == buffer.pointer || b == buffer.pointer) return &loop;
    }
  }
  return nullptr;
}

// Whether more than the launches taken and copies to the host may look at the buffer.
bool DraftBuffers::IsUsedElsewhere(const DraftBuffer& buffer) const {
  PointerMentions mentions(c_.program, c_.host, c_.launches, buffer.pointer, SwapsOf(buffer) != nullptr);
  mentions.LeaveOut(c_.not_reached);
  return mentions.Any();
}

// What the host copies of a buffer: elements from the first; empty: all, or not known.
std::string DraftBuffers::CopiedPart(const DraftBuffer& buffer, const std::vector<const HostCall*>& copies) const {
  const ElementType element = ElementTypeOf(c_.program, buffer.type).value_or(ElementType{"f32", 1});
  std::string counted;
  for (const HostCall* call : copies) {
    if (c_.host.Origin(call->arguments[1], call->function).offset) return "";
    const auto part = PartOf(buffer, c_.host.Resolve(call->arguments[2], call->function), element);
    if (!part || (!counted.empty() && counted != *part)) return "";
    counted = *part;
  }
  return counted;
}

std::vector<const HostCall*> DraftBuffers::CopiesOf(const Pointer& pointer) const {
  std::vector<const HostCall*> copies;
  for (const HostCall& call : c_.host.calls()) {
    if (!call.name.starts_with("cudaMemcpy") || call.arguments.size() < 3 || call.name.find("2D") != std::string::npos) continue;
    if (c_.host.Origin(call.arguments[1], call.function) == pointer) copies.push_back(&call);
  }
  return copies;
}

// An in-place reduction leaves its sum in the first element, and a kernel may use its input as memory of its own.
std::string DraftBuffers::Counted(const DraftBuffer& buffer) const {
  if (const TakenLoop* const swaps = SwapsOf(buffer)) return CountedAfter(*swaps, buffer);
  const auto copies = CopiesOf(buffer.pointer);
  if (!copies.empty()) {
    const std::string counted = IsUsedElsewhere(buffer) ? "" : CopiedPart(buffer, copies);
    if (!counted.empty())
      c_.draft.notes.push_back(fmt::format("of {} {} elements count: the host copies no more", buffer.name, counted));
    return counted;
  }
  const bool of_others = std::any_of(buffers_.begin(), buffers_.end(),
                                     [&](const DraftBuffer& one) { return one.use.written && !CopiesOf(one.pointer).empty(); });
  const auto allocated = c_.host.CallsOn(buffer.pointer, "cudaMalloc");
  const bool managed = !c_.host.CallsOn(buffer.pointer, "cudaMallocManaged").empty();
  if (!of_others || allocated.empty() || managed || Role(buffer) != "inout" || IsUsedElsewhere(buffer)) return "";
  c_.draft.notes.push_back(fmt::format("{} may hold anything afterwards: the host does not copy it back", buffer.name));
  return "0";
}

// Elements in bytes that are fewer than the buffer has; nullopt if they are not known, or all.
std::optional<std::string> DraftBuffers::PartOf(const DraftBuffer& buffer, const HostExpression& bytes,
                                                const ElementType& element) const {
  if (!bytes.IsKnown() || !buffer.bytes || !buffer.bytes->IsKnown()) return std::nullopt;
  const auto of_sizes = [&](const HostExpression& one) {
    const HostExpression named = c_.names.InSizes(one, c_.draft);
    const auto names = named.Names();
    return std::pair(named, std::all_of(names.begin(), names.end(), [&](const auto& name) { return c_.names.IsSize(name); }));
  };
  const auto [copied, known] = of_sizes(bytes);
  const auto [allocated, all_known] = of_sizes(*buffer.bytes);
  if (!known || !all_known || copied.Text() == allocated.Text()) return std::nullopt;
  Variables values;
  for (const DraftSize& size : c_.draft.sizes) values[size.name] = Number::Integer(size.value);
  const auto part = ValueOf(copied, values), all = ValueOf(allocated, values);
  if (!part || !all || part->AsReal() <= 0 || part->AsReal() >= all->AsReal()) return std::nullopt;
  const HostExpression elements =
      Simplified(HostExpression::Binary("/", copied, HostExpression::Integer(element.bytes() / element.count)));
  // A look at the first few elements says nothing of the others; a reduction in place leaves its results there.
  const bool constant = elements.Names().empty();
  const bool in_place = buffer.use.read || SwapsOf(buffer) != nullptr;
  const auto number = ValueOf(elements, values);
  if (constant ? !in_place || !number || number->AsReal() > kMostResults : part->AsReal() * kLeastPart < all->AsReal())
    return std::nullopt;
  return elements.Text();
}

// Of two buffers that change places as often as the loop runs, the one with the host's name counts.
std::string DraftBuffers::CountedAfter(const TakenLoop& loop, const DraftBuffer& buffer) const {
  const auto index = static_cast<std::size_t>(&loop - c_.loops.data());
  const bool nested = std::any_of(c_.launches.begin(), c_.launches.end(), [](const auto& one) { return one.loops.size() > 1; });
  const HostExpression count = ParseHostExpression(SpelledTokens(c_.draft.repeats[index]));
  const auto names = count.Names();
  const bool of_sizes = std::all_of(names.begin(), names.end(), [&](const auto& name) { return c_.names.IsSize(name); });
  const auto& [a, b] = loop.swaps.front();
  const bool of_a = !CopiesOf(a).empty();
  if (nested || !of_sizes || !count.IsKnown() || of_a != CopiesOf(b).empty()) return "";
  const Pointer& copied = of_a ? a : b;
  const auto result = std::find_if(buffers_.begin(), buffers_.end(), [&](const auto& one) { return one.pointer == copied; });
  if (result == buffers_.end()) return "";
  const auto other =
      std::find_if(buffers_.begin(), buffers_.end(), [&](const auto& one) { return one.pointer == (of_a ? b : a); });
  if (IsUsedElsewhere(*result) || (other != buffers_.end() && IsUsedElsewhere(*other))) return "";
  std::string elements = CopiedPart(*result, CopiesOf(copied));
  bool known = false;
  const ElementType element = ElementTypeOf(c_.program, result->type).value_or(ElementType{"f32", 1});
  const bool is_result = result->pointer == buffer.pointer;
  if (const auto number = ValueOf(count, {}); number && !number->is_real)
    return (number->integer % 2 == 0) == is_result ? elements : "0";
  if (elements.empty()) elements = fmt::format("{}", fmt::join(Shape(*result, element, known), " * "));
  return fmt::format("({}) % 2 == {} ? {} : 0", count.Text(), is_result ? 0 : 1, elements);
}

}  // namespace evo
