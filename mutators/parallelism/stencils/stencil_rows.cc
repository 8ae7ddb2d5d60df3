#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/expression.h"
#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/stencils/restated_stencils.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/products/contraction_text.h"
#include "mutators/parallelism/stencils/stencil_writer.h"
#include "mutators/parallelism/stencils/walking_stencil.h"

namespace evo {
namespace {

// The sizes that are searched.
const std::vector<std::int64_t> kStencilThreadsX{32, 64, 128, 256};
const std::vector<std::int64_t> kStencilThreadsY{1, 2, 4, 8};
const std::vector<std::int64_t> kStencilItems{1, 2, 4};
const std::vector<std::int64_t> kStencilRows{1, 2, 4};
const std::vector<std::int64_t> kStencilSteps{4, 8, 16, 32, 64, 128};
const std::vector<std::int64_t> kStencilAhead{0, 1, 2};
// Of planes that come through shared memory.
const std::vector<std::int64_t> kStagedAhead{1, 2, 3, 4, 5};
// 256 planes in 64, 32, 16, 12, 10, 8, 6, 5, 4 and 2 parts: one wave of blocks that fills all multiprocessors is fastest.
const std::vector<std::int64_t> kStagedSteps{4, 8, 16, 22, 26, 32, 43, 52, 64, 128};
const std::vector<std::int64_t> kStagedBlocks{1, 2, 3, 4, 5, 6, 8};
// Static shared memory of a block, that of a multiprocessor on Hopper, of which each block takes 1024 bytes besides, and
// registers of a multiprocessor.
constexpr int kPlanesBytes = 49152;
constexpr int kAllPlanesBytes = 233472;
constexpr int kRegistersOfAll = 65536;
// Registers that a thread needs at least besides those of neighbours: with so many no setting of the 27-point stencil spilled.
constexpr int kStencilRegisters = 24;
// Registers of a thread that neighbours may take; with more, they spill.
constexpr int kRegistersOfStencil = 160;
// What a search begins with: elements and rows of a thread, the first that need no more registers than these.
constexpr std::pair<std::int64_t, std::int64_t> kStencilStarts[] = {{4, 1}, {2, 1}, {1, 1}};
constexpr int kRegistersOfStart = 84;
// The same of planes through shared memory, with planes under way.
struct StagedStart {
  std::int64_t items, rows, ahead;
};
constexpr StagedStart kStagedStarts[] = {{4, 2, 3}, {4, 1, 3}, {2, 1, 3}, {1, 1, 2}};

// One thread per element of a stencil becomes a thread that walks along the slowest dimension. It keeps the rows or planes that
// it still needs in registers, so that it loads one of them in each step.
class StencilRows : public KernelVisitor {
 public:
  std::string_view name() const override { return "stencil_rows"; }
  // What is computed of an element's neighbours is the kernel's own text. The neighbours are the same elements.
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "walks through the rows or planes of a stencil with neighbours in registers, with elements, rows and steps as "
           "parameters";
  }
  double weight() const override { return 3; }

 private:
  ThreadLoops loops() const override { return ThreadLoops::kOfPlanes; }
  Restate restate() const override { return RestatedStencils; }
  bool restatement_speaks() const override { return true; }

  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    VisitRecognised(context, refuse, AsStencil, [&](const Stencil& stencil, const Refuse& refuse_kernel) {
      if (stencil.IsLine()) {
        if (auto proposal = OfLine(context, stencil)) return propose(std::move(*proposal));
        return refuse_kernel("not every element of its line is stored for certain");
      }
      if (auto proposal = Walking(context, stencil, true)) {
        propose(std::move(*proposal));
        if (auto staged = Staged(context, stencil)) propose(std::move(*staged));
        return;
      }
      // Of a star with long arms, the arm along which threads walk.
      const Stencil column = OwnColumn(stencil);
      if (auto proposal = column.sites.size() < 2 ? std::nullopt : Walking(context, column, false))
        propose(std::move(*proposal));
      else
        refuse_kernel("its neighbours do not fit into a thread's registers");
    });
  }

  // The stencil without neighbours in other columns and rows, which are read as before.
  static Stencil OwnColumn(Stencil stencil) {
    const std::size_t last = stencil.dimensions - 1;
    std::erase_if(stencil.sites, [&](const Stencil::Site& site) {
      for (std::size_t axis = 0; axis < last; ++axis) {
        if (site.offsets[axis].constant != 0 || !site.offsets[axis].factors.empty()) return true;
      }
      return false;
    });
    for (std::size_t axis = 0; axis < last; ++axis) stencil.lowest[axis] = stencil.highest[axis] = 0;
    return stencil;
  }

  static StencilParameters NamesIn(const SyntaxTree& tree) {
    const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
    return {unused("THREADS_X"), unused("THREADS_Y"), unused("ELEMENTS"), unused("ROWS"), unused("STEPS"), unused("AHEAD")};
  }

  // The changes without parameters.
  static Proposal Written(const MutationContext& context, const Stencil& found, const StencilWriter& writer) {
    return WalkingStencil(context, found, writer.Functions(), writer.Body(), writer.Grid(), writer.Block());
  }

  // Several elements a thread. nullopt if it cannot be.
  static std::optional<Proposal> OfLine(const MutationContext& context, const Stencil& found) {
    const StencilParameters names = NamesIn(context.tree);
    const StencilWriter writer(context, found, names, true, false);
    if (!writer.has_items()) return std::nullopt;
    Proposal proposal = Written(context, found, writer);
    proposal.brings = {{names.threads_x, kStencilThreadsX, 256}, {names.items, kStencilItems, 4}};
    return proposal;
  }

  // nullopt if the neighbours need too many registers.
  static std::optional<Proposal> Walking(const MutationContext& context, const Stencil& found, bool items_too) {
    const SyntaxTree& tree = context.tree;
    const StencilParameters names = NamesIn(tree);
    const StencilWriter writer(context, found, names, items_too, false);
    // What a search begins with.
    Variables start{{names.ahead, Number::Integer(1)}};
    std::int64_t items = 0, rows = 0;
    for (const auto& [wanted_items, wanted_rows] : kStencilStarts) {
      start[names.items] = Number::Integer(items = writer.has_items() ? wanted_items : 1);
      start[names.rows] = Number::Integer(rows = writer.has_rows() ? wanted_rows : 1);
      if (Expression::Parse(writer.Registers()).EvaluateInteger(start) <= kRegistersOfStart) break;
      items = 0;
    }
    if (items == 0) return std::nullopt;
    Proposal proposal = Written(context, found, writer);
    proposal.brings.push_back({names.threads_x, kStencilThreadsX, writer.has_rows() ? 64 : 128});
    if (writer.has_rows()) proposal.brings.push_back({names.threads_y, kStencilThreadsY, 2});
    if (writer.has_items()) proposal.brings.push_back({names.items, kStencilItems, items});
    if (writer.has_rows()) proposal.brings.push_back({names.rows, kStencilRows, rows});
    proposal.brings.push_back({names.steps, kStencilSteps, 16});
    proposal.brings.push_back({names.ahead, kStencilAhead, 1});
    if (writer.has_rows())
      proposal.constraints.push_back(fmt::format("{0} * {1} >= 64 && {0} * {1} <= 512", names.threads_x, names.threads_y));
    proposal.constraints.push_back(fmt::format("{} <= {}", writer.Registers(), kRegistersOfStencil));
    return proposal;
  }

  // Planes through shared memory: where they are planes, and threads may have several elements.
  static std::optional<Proposal> Staged(const MutationContext& context, const Stencil& found) {
    const SyntaxTree& tree = context.tree;
    const StencilParameters names = NamesIn(tree);
    const std::string blocks = UnusedName(tree.text(), "BLOCKS");
    const StencilWriter writer(context, found, names, true, true);
    if (!writer.has_items() || !writer.has_rows()) return std::nullopt;
    // What a search begins with: the most elements of a thread that its registers allow.
    const std::string threads = fmt::format("{} * {}", names.threads_x, names.threads_y);
    const std::vector<std::string> limits{
        fmt::format("{} <= {}", writer.Registers(), kRegistersOfStencil),
        fmt::format("({} + {}) * {} * {} <= {}", writer.Registers(), kStencilRegisters, threads, blocks, kRegistersOfAll),
        fmt::format("{} <= {}", writer.SharedBytes(), kPlanesBytes),
        fmt::format("({} + 1024) * {} <= {}", writer.SharedBytes(), blocks, kAllPlanesBytes)};
    for (const auto& [items, rows, ahead] : kStagedStarts) {
      const Variables start{{names.threads_x, Number::Integer(64)}, {names.threads_y, Number::Integer(4)},
                            {names.items, Number::Integer(items)},  {names.rows, Number::Integer(rows)},
                            {names.ahead, Number::Integer(ahead)},  {blocks, Number::Integer(2)}};
      const auto holds = [&](const std::string& limit) { return Expression::Parse(limit).EvaluateInteger(start) != 0; };
      if (!std::all_of(limits.begin(), limits.end(), holds)) continue;
      Proposal proposal = Written(context, found, writer);
      proposal.changes.push_back({found.kernel, Placement::kBefore, "#include <cuda_pipeline.h>\n"});
      proposal.changes.push_back(WithBounds(tree, found.kernel, fmt::format("{}, {}", threads, blocks)));
      proposal.brings = {{names.threads_x, kStencilThreadsX, 64},
                         {names.threads_y, kStencilThreadsY, 4},
                         {names.items, kStencilItems, items},
                         {names.rows, kStencilRows, rows},
                         {names.steps, kStagedSteps, 32},
                         {names.ahead, kStagedAhead, ahead},
                         {blocks, kStagedBlocks, 2}};
      proposal.constraints = {fmt::format("{0} >= 64 && {0} <= 512", threads)};
      proposal.constraints.insert(proposal.constraints.end(), limits.begin(), limits.end());
      return proposal;
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeStencilRows() { return std::make_unique<StencilRows>(); }

}  // namespace evo
