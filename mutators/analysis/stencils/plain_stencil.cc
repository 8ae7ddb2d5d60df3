#include "mutators/analysis/stencils/plain_stencil.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/source_query.h"
#include "syntax/splices.h"

namespace evo {
namespace {

using Kind = ThreadFormula::Kind;
using Edge = StencilFormulas::Edge;

// A longer expression becomes a variable.
constexpr std::size_t kLongExpression = 90;
// Of a block, if no size has whole blocks only.
constexpr std::int64_t kPlainLine = 256, kPlainColumns = 32, kPlainRows = 8, kPlainThreads = 256;

std::string MovedBy(const std::string& text, std::int64_t by) {
  return by == 0 ? text : fmt::format("{} {} {}", text, by < 0 ? '-' : '+', std::abs(by));
}

std::string WithoutOuter(const std::string& text) {
  if (!text.starts_with('(')) return text;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text;
  }
  return text.substr(1, text.size() - 2);
}

class PlainStencilWriter {
 public:
  PlainStencilWriter(const MutationContext& context, const Stencil& found, const StencilFormulas& formulas)
      : tree_(context.tree), found_(found), formulas_(formulas) {
    for (const char* name : {"column", "row", "plane"}) coordinates_.push_back(UnusedName(tree_.text(), name));
    count_ = UnusedName(tree_.text(), "count");
    const std::string_view text = tree_.Text(found.kernel);
    for (const char* word : {"long", "size_t", "int64"}) wide_ |= text.find(word) != std::string_view::npos;
  }

  std::string Body(const WholeBlocksOfSizes& whole) {
    std::string text =
        fmt::format("{{\n  const int {} = blockIdx.x * blockDim.x + threadIdx.x{};\n", coordinates_[0], First(0, whole));
    if (!IsLine())
      text += fmt::format("  const int {} = blockIdx.y * blockDim.y + threadIdx.y{};\n", coordinates_[1], First(1, whole));
    if (found_.dimensions == 3)
      text += fmt::format("  const int {} = blockIdx.z{}{};\n", coordinates_[2],
                          WholeBlocksAlong(found_, 2, whole) == nullptr ? "" : " * blockDim.z + threadIdx.z", First(2, whole));
    std::vector<std::string> outside;
    for (std::size_t axis = 0; axis < Axes(); ++axis) AddOutside(found_.stores[axis], axis, outside);
    text += fmt::format("  if ({}) return;\n", fmt::join(outside, " || "));
    if (formulas_.edge() == Edge::kSkipped && HasCount()) text += Count();
    if (formulas_.edge() != Edge::kElse) return text + Stores(formulas_.inner(), "  ") + "}";
    std::vector<std::string> edges;
    for (std::size_t axis = 0; axis < Axes(); ++axis) AddOutside(formulas_.inside()[axis], axis, edges);
    text += fmt::format("  if ({}) {{\n{}    return;\n  }}\n", fmt::join(edges, " || "), Stores(formulas_.outer(), "    "));
    return text + Stores(formulas_.inner(), "  ") + "}";
  }

  // What the launch line says of grid and block.
  std::pair<std::string, std::string> Shape(const WholeBlocksOfSizes& whole) const {
    std::vector<std::string> grid, block;
    std::int64_t threads = 1;
    const auto along = [&](std::size_t axis) { return WholeBlocksAlong(found_, axis, whole); };
    for (std::size_t axis = 0; axis < Axes(); ++axis) threads *= along(axis) == nullptr ? 1 : along(axis)->second.threads;
    for (std::size_t axis = 0; axis < Axes(); ++axis) {
      if (const auto* const blocks = along(axis)) {
        grid.push_back(fmt::format("{} / {}", Parenthesised(blocks->first), Parenthesised(blocks->second.text)));
        block.push_back(blocks->second.text);
        continue;
      }
      const std::string& end = found_.stores[axis].end.launch;
      const std::string extent = end.find(" - ") == std::string::npos ? end : fmt::format("max({}, 1)", end);
      const std::int64_t wanted = IsLine() ? kPlainLine : axis == 0 ? kPlainColumns : axis == 1 ? kPlainRows : 1;
      const std::int64_t here = std::min(wanted, std::max<std::int64_t>(1, kPlainThreads / threads));
      grid.push_back(here == 1 ? extent : fmt::format("ceil_div({}, {})", extent, here));
      block.push_back(std::to_string(here));
      threads *= here;
    }
    if (block.size() == 3 && block.back() == "1") block.pop_back();
    return {fmt::format("{}", fmt::join(grid, ", ")), fmt::format("{}", fmt::join(block, ", "))};
  }

 private:
  // Whole blocks begin with the first element that is stored.
  std::string First(std::size_t axis, const WholeBlocksOfSizes& whole) const {
    const std::int64_t first = FirstOfBlocks(found_, axis, whole);
    return first == 0 ? "" : fmt::format(" + {}", first);
  }
  bool IsLine() const { return found_.IsLine(); }
  std::size_t Axes() const { return IsLine() ? 1 : found_.dimensions; }

  void AddOutside(const Stencil::Range& range, std::size_t axis, std::vector<std::string>& outside) const {
    if (!range.BeginsAtZero()) outside.push_back(fmt::format("{} < {}", coordinates_[axis], range.Low()));
    outside.push_back(fmt::format("{} >= {}", coordinates_[axis], range.end.kernel));
  }

  std::string Index(const std::array<std::string, 3>& at) const {
    const std::string cast = wide_ ? "(long long)" : "";
    if (IsLine()) return at[0];
    const auto factor = [](const std::string& text) { return text.find(' ') == std::string::npos ? text : "(" + text + ")"; };
    std::string line = fmt::format("{}{}", cast, factor(at[found_.dimensions - 1]));
    if (found_.dimensions == 3) line = fmt::format("({} * {} + {})", line, found_.lengths[1].kernel, at[1]);
    return fmt::format("{} * {} + {}", line, found_.lengths[0].kernel, at[0]);
  }

  // That a neighbour exists.
  void AddExists(const StencilPlace& offset, std::vector<std::string>& conditions) const {
    for (std::size_t axis = 0; axis < Axes(); ++axis) {
      if (offset[axis] == 0) continue;
      const std::string place = MovedBy(coordinates_[axis], offset[axis]);
      std::string condition = offset[axis] < 0 ? fmt::format("{} >= {}", place, found_.reads[axis].Low())
                                               : fmt::format("{} < {}", place, found_.reads[axis].end.kernel);
      if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end())
        conditions.push_back(std::move(condition));
    }
  }

  std::string Element(const ThreadFormula& element) const {
    const std::string& buffer = tree_.node(element.memory).name;
    if (!formulas_.IsRelative(element.memory)) return fmt::format("{}[{}]", buffer, element.index);
    const StencilPlace& offset = formulas_.OffsetOf(element);
    std::array<std::string, 3> at;
    for (std::size_t axis = 0; axis < Axes(); ++axis) {
      at[axis] = MovedBy(coordinates_[axis], offset[axis]);
      if (offset[axis] == 0) continue;
      const std::string low = found_.reads[axis].Low(), end = found_.reads[axis].end.kernel;
      if (formulas_.edge() == Edge::kNearest)
        at[axis] = offset[axis] < 0 ? fmt::format("max({}, {})", at[axis], low) : fmt::format("min({}, {} - 1)", at[axis], end);
      if (formulas_.edge() == Edge::kOther)
        at[axis] = offset[axis] < 0 ? fmt::format("({0} >= {1} ? {0} : {0} + ({2} - {1}))", at[axis], low, end)
                                    : fmt::format("({0} < {2} ? {0} : {0} - ({2} - {1}))", at[axis], low, end);
    }
    std::string text = fmt::format("{}[{}]", buffer, Index(at));
    std::vector<std::string> exists;
    AddExists(offset, exists);
    if (formulas_.edge() != Edge::kConstant || exists.empty()) return text;
    const std::string either = fmt::format("({} ? {} : {})", fmt::join(exists, " && "), text, formulas_.constant()->spelled);
    const bool is_short = element.type.ends_with("char") || element.type.ends_with("short");
    return is_short ? fmt::format("static_cast<{}>{}", element.type, either) : either;
  }

  bool HasCount() const {
    const auto& all = formulas_.inner();
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return HasCount(*one.second); });
  }
  bool HasCount(const ThreadFormula& formula) const {
    return formulas_.IsCount(formula) ||
           std::any_of(formula.parts.begin(), formula.parts.end(), [&](const FormulaPointer& part) { return HasCount(*part); });
  }
  // How many neighbours exist.
  std::string Count() const {
    std::vector<std::string> extents;
    for (std::size_t axis = 0; axis < Axes(); ++axis) {
      const std::string& at = coordinates_[axis];
      extents.push_back(fmt::format("(min({}, {} - 1) - max({}, {}) + 1)", MovedBy(at, formulas_.highest()[axis]),
                                    found_.reads[axis].end.kernel, MovedBy(at, formulas_.lowest()[axis]),
                                    found_.reads[axis].Low()));
    }
    return fmt::format("  const int {} = {};\n", count_, fmt::join(extents, " * "));
  }

  std::string Stores(const std::map<int, FormulaPointer>& formulas, const std::string& indent) {
    statements_.clear(), variables_.clear(), uses_.clear();
    indent_ = indent;
    for (const auto& [buffer, formula] : formulas) CountUses(formula);
    const std::string element = Index({coordinates_[0], coordinates_[1], coordinates_[2]});
    std::string stores;
    for (const auto& [buffer, formula] : formulas)
      stores += fmt::format("{}{}[{}] = {};\n", indent, tree_.node(buffer).name, element, WithoutOuter(Written(formula)));
    return statements_ + stores;
  }

  void CountUses(const FormulaPointer& formula) {
    if (++uses_[formula.get()] > 1) return;
    for (const FormulaPointer& part : formula->parts) CountUses(part);
  }

  // A variable for a part.
  std::string Variable(const ThreadFormula& formula, const std::string& text) {
    const std::string name = UnusedName(tree_.text(), fmt::format("part{}", ++parts_));
    statements_ += fmt::format("{}const {} {} = {};\n", indent_, formula.type, name, WithoutOuter(text));
    return variables_[&formula] = name;
  }

  std::string Written(const FormulaPointer& formula) {
    if (const auto known = variables_.find(formula.get()); known != variables_.end()) return known->second;
    if (formula->kind == Kind::kElement) return Element(*formula);
    if (formulas_.IsCount(*formula)) return count_;
    if (formula->parts.empty()) return formula->spelled;
    if (formulas_.edge() == Edge::kSkipped) {
      if (const auto skipped = SkippedIn(*formula)) {
        std::vector<std::string> exists;
        for (const auto& [buffer, number] : ElementsIn(*formula->parts[skipped->dropped])) {
          if (formulas_.IsRelative(buffer)) AddExists(formulas_.OffsetOf(*FormulaElement("", buffer, number)), exists);
        }
        if (!exists.empty()) return Skipping(*formula, *skipped, exists);
      }
    }
    std::map<const ThreadFormula*, std::string> written;
    for (const FormulaPointer& part : formula->parts) written[part.get()] = Written(part);
    std::string text = FormulaText(*formula, [&](const ThreadFormula& part) {
      const auto one = written.find(&part);
      return one == written.end() ? "" : one->second;
    });
    const bool shared = uses_[formula.get()] > 1;
    return shared || text.size() > kLongExpression ? Variable(*formula, text) : text;
  }

  // A part that is left out if what it adds does not exist.
  std::string Skipping(const ThreadFormula& formula, const SkippedPart& skipped, const std::vector<std::string>& exists) {
    const FormulaPointer& kept = formula.parts[skipped.kept];
    std::string without = Written(kept);
    if (!variables_.contains(kept.get()) && !kept->parts.empty()) without = Variable(*kept, without);
    std::map<const ThreadFormula*, std::string> written{{kept.get(), without}};
    for (const FormulaPointer& part : formula.parts) {
      if (part != kept) written[part.get()] = Written(part);
    }
    const std::string text = FormulaText(formula, [&](const ThreadFormula& part) {
      const auto one = written.find(&part);
      return one == written.end() ? "" : one->second;
    });
    return Variable(formula, fmt::format("{} ? {} : {}", fmt::join(exists, " && "), WithoutOuter(text), without));
  }

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilFormulas& formulas_;
  std::vector<std::string> coordinates_;
  std::string count_;
  bool wide_ = false;
  int parts_ = 0;
  std::string indent_, statements_;
  std::map<const ThreadFormula*, std::string> variables_;
  std::map<const ThreadFormula*, int> uses_;
};

}  // namespace

const WholeBlocksOfSizes::value_type* WholeBlocksAlong(const Stencil& found, std::size_t axis, const WholeBlocksOfSizes& whole) {
  const WholeBlocksOfSizes::value_type* along = nullptr;
  for (const auto& one : whole) {
    if (ContainsName(found.stores[axis].end.launch, one.first)) along = &one;
  }
  return along;
}

std::int64_t FirstOfBlocks(const Stencil& found, std::size_t axis, const WholeBlocksOfSizes& whole) {
  const bool blocks = axis < (found.IsLine() ? 1 : found.dimensions) && WholeBlocksAlong(found, axis, whole) != nullptr;
  return blocks ? found.stores[axis].low : 0;
}

std::string WithPlainStencil(const MutationContext& context, const Stencil& found, const StencilFormulas& formulas,
                             const WholeBlocksOfSizes& whole) {
  const SyntaxTree& tree = context.tree;
  PlainStencilWriter writer(context, found, formulas);
  const SourceRange& body = tree.node(tree.node(found.kernel).children.back()).range;
  std::string text = tree.text().substr(0, body.begin) + writer.Body(whole) + tree.text().substr(body.end);
  const auto [grid, block] = writer.Shape(whole);
  text = RenderLaunchChange(text, {found.launch->kernel, "grid", grid}).value_or("");
  if (text.empty()) return text;
  return RenderLaunchChange(text, {found.launch->kernel, "block", block}).value_or("");
}

}  // namespace evo
