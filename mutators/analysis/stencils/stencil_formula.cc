#include "mutators/analysis/stencils/stencil_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "mutators/analysis/thread_runs/thread_functions.h"

namespace evo {
namespace {

using Kind = ThreadFormula::Kind;

bool IsWholeLiteral(const ThreadFormula& formula) {
  return formula.kind == Kind::kLeaf && formula.known && !formula.spelled.empty() &&
         formula.spelled.find_first_not_of("0123456789") == std::string::npos;
}

// A sum of two literals of integers is a number where a kernel runs.
FormulaPointer Folded(const FormulaPointer& formula) {
  const bool sum = formula && formula->kind == Kind::kOperator && formula->parts.size() == 2 && formula->spelled == "+";
  if (!sum || formula->type != "int") return formula;
  std::int64_t value = 0;
  for (const FormulaPointer& part : formula->parts) {
    if (!IsWholeLiteral(*part) || part->type != "int" || part->spelled.size() > 8) return formula;
    value += std::stoll(part->spelled);
  }
  return FormulaInteger("int", value);
}

void AddLeaves(const ThreadFormula& formula, std::map<std::string, FormulaPointer>& leaves) {
  for (const FormulaPointer& part : formula.parts) {
    if (part->kind == Kind::kLeaf && part->known)
      leaves[part->type + part->spelled] = part;
    else
      AddLeaves(*part, leaves);
  }
}

}  // namespace

std::optional<SkippedPart> SkippedIn(const ThreadFormula& formula) {
  if (formula.kind == Kind::kChoice) return SkippedPart{2, 0};
  bool two = formula.kind == Kind::kOperator && formula.parts.size() == 2 && (formula.spelled == "+" || formula.spelled == "-");
  if (formula.kind == Kind::kCall && formula.parts.size() == 2) {
    const ThreadCallee callee(formula.spelled);
    two = callee.kind == ThreadCallee::Kind::kLargest || callee.kind == ThreadCallee::Kind::kSmallest;
  }
  if (!two) return std::nullopt;
  // What was there before is larger than what is added.
  const bool swapped = formula.spelled != "-" && ElementsIn(*formula.parts[1]).size() > ElementsIn(*formula.parts[0]).size() &&
                       !ElementsIn(*formula.parts[0]).empty();
  return swapped ? SkippedPart{1, 0} : SkippedPart{0, 1};
}

bool StencilFormulas::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// Buffers that are read near the element, always. Of others the same elements are read for each one.
void StencilFormulas::FindRelative() {
  std::set<int> far;
  const std::int64_t furthest = runs_.found.IsLine() ? StencilLaunch::kFurthestInLine : StencilLaunch::kFurthestNeighbour;
  for (const StencilLaunch& launch : runs_.launches) {
    for (const StencilThread& thread : launch.threads) {
      const StencilPlace own = launch.PlaceOf(thread.element);
      for (const ThreadTrace::Touch& touch : thread.touches) {
        const StencilPlace read = launch.PlaceOf(touch.index);
        const bool near_all =
            std::find(runs_.found.buffers.begin(), runs_.found.buffers.end(), touch.memory) != runs_.found.buffers.end();
        relative_.insert(touch.memory);
        for (std::size_t axis = 0; axis < 3 && !near_all; ++axis) {
          if (std::abs(read[axis] - own[axis]) > furthest) far.insert(touch.memory);
        }
      }
    }
  }
  for (const int buffer : far) relative_.erase(buffer);
}

std::int64_t StencilFormulas::NumberOf(const StencilPlace& offset) {
  const auto [known, fresh] = offsets_.numbers.try_emplace(offset, static_cast<std::int64_t>(offsets_.all.size()));
  if (fresh) offsets_.all.push_back(offset);
  return known->second;
}

FormulaPointer StencilFormulas::Relative(const FormulaPointer& formula, At& at) {
  if (formula->kind == Kind::kElement) {
    if (!IsRelative(formula->memory)) return formula;
    StencilPlace offset = at.launch->PlaceOf(formula->index);
    for (std::size_t axis = 0; axis < 3; ++axis) offset[axis] -= at.place[axis];
    return FormulaElement(formula->type, formula->memory, NumberOf(offset));
  }
  if (formula->parts.empty()) return formula;
  FormulaPointer& known = at.known[formula.get()];
  if (known) return known;
  std::vector<FormulaPointer> parts;
  for (const FormulaPointer& part : formula->parts) parts.push_back(Relative(part, at));
  FormulaPointer relative = FormulaWith(*formula, std::move(parts));
  return at.known[formula.get()] = relative;
}

std::string StencilFormulas::TextOf(const ThreadFormula& formula) const {
  return FormulaText(formula, [&](const ThreadFormula& part) {
    return part.kind == Kind::kElement ? fmt::format("{}[{}]", runs_.tree.node(part.memory).name, part.index) : "";
  });
}

std::string StencilFormulas::TextAt(const StoredFormulas& stored, std::int64_t element, At& at,
                                    std::map<int, FormulaPointer>* formulas) {
  std::string text;
  for (const auto& [buffer, elements] : stored) {
    const FormulaPointer relative = Relative(elements.at(element), at);
    text += TextOf(*relative) + ";";
    if (formulas != nullptr) (*formulas)[buffer] = relative;
  }
  return text;
}

bool StencilFormulas::Find() {
  FindRelative();
  bool same = true;
  for (std::size_t i = 0; i < 2; ++i) {
    for (const StencilThread& thread : runs_.launches[i].threads) {
      At at{&runs_.launches[i], runs_.launches[i].PlaceOf(thread.element), {}};
      const bool first = inner_.empty() && runs_.launches[i].IsInner(thread);
      const std::string text = TextAt(runs_.stored[i], thread.element, at, first ? &inner_ : nullptr);
      if (first) inner_text_ = text;
      if (runs_.launches[i].IsInner(thread) && text != inner_text_) return Refuse("it computes elements in different ways");
      texts_[i][thread.element] = text;
    }
  }
  if (inner_.empty()) return Refuse("it computes nothing away from edges");
  for (const auto& texts : texts_)
    same &= std::all_of(texts.begin(), texts.end(), [&](const auto& one) { return one.second == inner_text_; });
  FindWindow();
  return same || FindEdges() || FindElse() || Refuse("what it does at edges is not understood");
}

// Whether its neighbours are a whole box.
void StencilFormulas::FindWindow() {
  std::set<std::int64_t> used;
  for (const auto& [buffer, formula] : inner_) {
    for (const auto& [read, number] : ElementsIn(*formula)) {
      if (IsRelative(read)) used.insert(number);
    }
  }
  for (const std::int64_t number : used) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t offset = offsets_.all[static_cast<std::size_t>(number)][axis];
      edges_.lowest[axis] = std::min(edges_.lowest[axis], offset);
      edges_.highest[axis] = std::max(edges_.highest[axis], offset);
    }
  }
  std::int64_t box = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) box *= edges_.highest[axis] - edges_.lowest[axis] + 1;
  edges_.window = box == static_cast<std::int64_t>(used.size());
}

bool StencilFormulas::IsCount(const ThreadFormula& formula) const {
  if (!edges_.counts || edges_.edge != Edge::kSkipped || !IsWholeLiteral(formula)) return false;
  std::int64_t box = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) box *= edges_.highest[axis] - edges_.lowest[axis] + 1;
  return formula.spelled == std::to_string(box);
}

std::int64_t StencilFormulas::CountAt(const At& at) const {
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < runs_.found.dimensions; ++axis) {
    const std::int64_t first = std::max(at.place[axis] + edges_.lowest[axis], at.launch->reads.low[axis]);
    count *= std::min(at.place[axis] + edges_.highest[axis], at.launch->reads.end[axis] - 1) - first + 1;
  }
  return count;
}

// Null if it is left out.
FormulaPointer StencilFormulas::DerivedElement(const FormulaPointer& element, const At& at) {
  if (!IsRelative(element->memory)) return element;
  StencilPlace offset = OffsetOf(*element);
  bool exists = true;
  for (std::size_t axis = 0; axis < runs_.found.dimensions; ++axis) {
    const std::int64_t wanted = at.place[axis] + offset[axis], low = at.launch->reads.low[axis], end = at.launch->reads.end[axis];
    if (wanted >= low && wanted < end) continue;
    exists = false;
    const std::int64_t other = edges_.edge == Edge::kNearest ? std::clamp(wanted, low, end - 1)
                                                             : low + ((wanted - low) % (end - low) + end - low) % (end - low);
    offset[axis] = other - at.place[axis];
  }
  if (exists) return element;
  if (edges_.edge == Edge::kConstant) return FormulaCast(edges_.constant, element->type);
  return edges_.edge == Edge::kSkipped ? nullptr : FormulaElement(element->type, element->memory, NumberOf(offset));
}

FormulaPointer StencilFormulas::Derived(const FormulaPointer& formula, At& at) {
  if (formula->kind == Kind::kElement) return DerivedElement(formula, at);
  if (IsCount(*formula)) return FormulaInteger(formula->type, CountAt(at));
  if (formula->parts.empty()) return formula;
  if (const auto known = at.known.find(formula.get()); known != at.known.end()) return known->second;
  std::vector<FormulaPointer> parts;
  for (const FormulaPointer& part : formula->parts) parts.push_back(Derived(part, at));
  FormulaPointer derived;
  if (std::find(parts.begin(), parts.end(), nullptr) == parts.end()) {
    derived = Folded(FormulaWith(*formula, std::move(parts)));
  } else if (const auto skipped = edges_.edge == Edge::kSkipped ? SkippedIn(*formula) : std::nullopt;
             skipped && !parts[skipped->dropped] && parts[skipped->kept]) {
    derived = FormulaCast(parts[skipped->kept], formula->type);
  }
  return at.known[formula.get()] = derived;
}

bool StencilFormulas::HoldsAtEdges() {
  for (std::size_t i = 0; i < 2; ++i) {
    for (const auto& [element, wanted] : texts_[i]) {
      At at{&runs_.launches[i], runs_.launches[i].PlaceOf(element), {}};
      std::string text;
      for (const auto& [buffer, formula] : inner_) {
        const FormulaPointer derived = Derived(formula, at);
        if (!derived) return false;
        text += TextOf(*derived) + ";";
      }
      if (text != wanted) return false;
    }
  }
  return true;
}

bool StencilFormulas::FindEdges() {
  for (const Edge edge : {Edge::kNearest, Edge::kOther, Edge::kSkipped}) {
    edges_.edge = edge;
    if (HoldsAtEdges()) return true;
  }
  edges_.counts = edges_.window;
  if (edges_.counts && HoldsAtEdges()) return true;
  edges_.counts = false;
  // Of the first element that is at an edge, any number may stand for neighbours that do not exist.
  edges_.edge = Edge::kConstant;
  std::map<std::string, FormulaPointer> constants;
  for (const auto& [element, text] : texts_[0]) {
    if (text == inner_text_) continue;
    for (const auto& [buffer, elements] : runs_.stored[0]) AddLeaves(*elements.at(element), constants);
    break;
  }
  constexpr std::size_t kMostConstants = 8;
  std::size_t tried = 0;
  for (const auto& [text, constant] : constants) {
    if (++tried > kMostConstants) break;
    edges_.constant = constant;
    if (HoldsAtEdges()) return true;
  }
  return false;
}

bool StencilFormulas::FindElse() {
  edges_.edge = Edge::kElse;
  std::array<StencilBox, 2> boxes;
  std::string outer;
  for (std::size_t i = 0; i < 2; ++i) {
    std::int64_t count = 0;
    for (const auto& [element, text] : texts_[i]) {
      if (text == inner_text_) {
        boxes[i].Add(runs_.launches[i].PlaceOf(element));
        ++count;
        continue;
      }
      At at{&runs_.launches[i], runs_.launches[i].PlaceOf(element), {}};
      if (outer.empty()) outer = TextAt(runs_.stored[i], element, at, &edges_.outer);
      if (text != outer) return Refuse("it computes several different things at edges");
    }
    if (boxes[i].Volume() != count) return Refuse("its elements away from edges are no box");
  }
  for (std::size_t axis = 0; axis < runs_.found.dimensions; ++axis) {
    if (axis == 1 && runs_.found.IsLine()) {
      edges_.inside[axis] = runs_.found.stores[axis];
      continue;
    }
    const auto range = StencilRangeOf(runs_.numbers, boxes, axis, runs_.found.IsLine());
    if (!range) return Refuse("where its edges begin does not follow from its parameters");
    edges_.inside[axis] = *range;
  }
  return true;
}

}  // namespace evo
