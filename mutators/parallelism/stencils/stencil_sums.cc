#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/expression.h"
#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/stencils/restated_stencils.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/products/contraction_text.h"
#include "mutators/parallelism/stencils/stencil_sum_writer.h"
#include "mutators/parallelism/stencils/walking_stencil.h"

namespace evo {
namespace {

// The sizes that are searched.
const std::vector<std::int64_t> kSumThreadsX{32, 64, 128, 256};
const std::vector<std::int64_t> kSumThreadsY{1, 2, 4, 8};
const std::vector<std::int64_t> kSumItems{1, 2, 4};
const std::vector<std::int64_t> kSumRows{1, 2, 4};
const std::vector<std::int64_t> kSumSteps{4, 8, 16, 22, 26, 32, 43, 52, 64, 128};
const std::vector<std::int64_t> kSumAhead{1, 2, 3, 4, 5};
// Of rows.
const std::vector<std::int64_t> kRowSteps{4, 8, 16, 32, 64, 128};
const std::vector<std::int64_t> kRowAhead{0, 1, 2, 4};
const std::vector<std::int64_t> kSumBlocks{1, 2, 3, 4, 5, 6, 8};
// Shared memory of a block, that of a multiprocessor on Hopper, of which each block takes 1024 bytes besides, and
// registers of a multiprocessor.
constexpr int kRingBytes = 232448;
constexpr int kAllRingBytes = 233472;
constexpr int kSumRegistersOfAll = 65536;
// Registers that a thread needs besides those of neighbours and results, and how many it may have.
constexpr int kSumsOtherRegisters = 24;
constexpr int kMostSumRegisters = 200;
constexpr int kRegistersOfRows = 100;  // where a search begins
// What a search begins with: the first of these that fits. Ten searches of ten on a 27-point stencil ended with two elements of
// several rows, eight of them with four rows (docs/results.md).
struct SumStart {
  std::int64_t items, rows, ahead, blocks;
};
constexpr SumStart kSumStarts[] = {{2, 4, 4, 2}, {4, 2, 3, 2}, {4, 1, 3, 3}, {2, 1, 3, 3}, {1, 1, 2, 2}};

// One thread per element of a stencil with equal weights becomes a thread that walks along the slowest dimension and sums up what
// has equal weights once.
class StencilSums : public KernelVisitor {
 public:
  std::string_view name() const override { return "stencil_sums"; }
  // Products with equal factors become the product of a sum.
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "walks through the planes of a stencil and sums up neighbours with equal weights once, with elements, rows and steps "
           "as parameters";
  }
  double weight() const override { return 3; }

 private:
  ThreadLoops loops() const override { return ThreadLoops::kOfPlanes; }
  Restate restate() const override { return RestatedStencils; }
  bool restatement_speaks() const override { return true; }

  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    VisitRecognised(context, refuse, AsStencil, [&](const Stencil& stencil, const Refuse& refuse_kernel) {
      if (stencil.IsLine()) return refuse_kernel("its elements lie in a line, in which stencil_rows gives a thread several");
      if (!stencil.effects.empty()) return refuse_kernel("it changes more than elements");
      const SyntaxTree& tree = context.tree;
      const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
      const StencilParameters names{unused("THREADS_X"), unused("THREADS_Y"), unused("ELEMENTS"),
                                    unused("ROWS"),      unused("STEPS"),     unused("AHEAD")};
      const StencilSumWriter writer(context, stencil, names);
      if (!writer.why().empty()) return refuse_kernel(writer.why());
      if (auto proposal =
              stencil.dimensions == 3 ? OfPlanes(context, stencil, writer, names) : OfRows(context, stencil, writer, names))
        propose(std::move(*proposal));
      else
        refuse_kernel("its neighbours do not fit into a thread's registers");
    });
  }

  // nullopt if the neighbours need too many registers.
  static std::optional<Proposal> OfPlanes(const MutationContext& context, const Stencil& found, const StencilSumWriter& writer,
                                          const StencilParameters& names) {
    const SyntaxTree& tree = context.tree;
    const std::string blocks = UnusedName(tree.text(), "BLOCKS");
    const std::string threads = fmt::format("{} * {}", names.threads_x, names.threads_y);
    const std::vector<std::string> limits{
        fmt::format("{} <= {}", writer.Registers(), kMostSumRegisters),
        fmt::format("({} + {}) * {} * {} <= {}", writer.Registers(), kSumsOtherRegisters, threads, blocks, kSumRegistersOfAll),
        fmt::format("{} <= {}", writer.SharedBytes(), kRingBytes),
        fmt::format("({} + 1024) * {} <= {}", writer.SharedBytes(), blocks, kAllRingBytes)};
    for (const auto& [items, rows, ahead, start_blocks] : kSumStarts) {
      const Variables start{{names.threads_x, Number::Integer(64)}, {names.threads_y, Number::Integer(4)},
                            {names.items, Number::Integer(items)},  {names.rows, Number::Integer(rows)},
                            {names.ahead, Number::Integer(ahead)},  {blocks, Number::Integer(start_blocks)}};
      const auto holds = [&](const std::string& limit) { return Expression::Parse(limit).EvaluateInteger(start) != 0; };
      if (!std::all_of(limits.begin(), limits.end(), holds)) continue;
      Proposal proposal = WalkingStencil(context, found, writer.Functions(), writer.Body(), writer.Grid(), writer.Block());
      proposal.changes.push_back({found.kernel, Placement::kBefore, "#include <cuda_pipeline.h>\n"});
      proposal.launch.push_back({found.launch->kernel, "shared", writer.SharedBytes()});
      proposal.changes.push_back(WithBounds(tree, found.kernel, fmt::format("{}, {}", threads, blocks)));
      proposal.parameters.merge(ParametersBehind(context, writer.relied()));
      proposal.brings = {{names.threads_x, kSumThreadsX, 64}, {names.threads_y, kSumThreadsY, 4}, {names.items, kSumItems, items},
                         {names.rows, kSumRows, rows},        {names.steps, kSumSteps, 32},       {names.ahead, kSumAhead, ahead},
                         {blocks, kSumBlocks, start_blocks}};
      proposal.constraints = {fmt::format("{0} >= 64 && {0} <= 512", threads)};
      proposal.constraints.insert(proposal.constraints.end(), limits.begin(), limits.end());
      return proposal;
    }
    return std::nullopt;
  }

  // The same of two dimensions.
  static std::optional<Proposal> OfRows(const MutationContext& context, const Stencil& found, const StencilSumWriter& writer,
                                        const StencilParameters& names) {
    const std::string limit = fmt::format("{} <= {}", writer.Registers(), kMostSumRegisters);
    for (const std::int64_t items : {4, 2, 1}) {
      const Variables start{{names.items, Number::Integer(items)}, {names.ahead, Number::Integer(2)}};
      if (Expression::Parse(writer.Registers()).EvaluateInteger(start) > kRegistersOfRows) continue;
      Proposal proposal = WalkingStencil(context, found, writer.Functions(), writer.Body(), writer.Grid(), writer.Block());
      proposal.parameters.merge(ParametersBehind(context, writer.relied()));
      proposal.brings = {{names.threads_x, kSumThreadsX, 128},
                         {names.items, kSumItems, items},
                         {names.steps, kRowSteps, 16},
                         {names.ahead, kRowAhead, 2}};
      proposal.constraints = {limit};
      return proposal;
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeStencilSums() { return std::make_unique<StencilSums>(); }

}  // namespace evo
