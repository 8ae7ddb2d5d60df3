#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/reductions/flat_blocks.h"
#include "mutators/analysis/reductions/grid_sum.h"
#include "mutators/analysis/reductions/reduction.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/parallelism/reductions/array_forms_writer.h"
#include "mutators/parallelism/reductions/grid_sum_writer.h"
#include "mutators/parallelism/reductions/reduction_writer.h"

namespace evo {
namespace {

const std::vector<std::int64_t> kReductionThreads{32, 64, 128, 256, 512, 1024};
const std::vector<std::int64_t> kReductionItems{1, 2, 4, 8};
// Multiples of the multiprocessors of a large device, and a few for small ones.
const std::vector<std::int64_t> kReductionBlocks{16, 66, 132, 264, 528, 1056, 2112, 4224};

// A reduction by a tree in shared memory, or by an atomic of each thread, becomes one in registers: each thread adds up several
// elements that it reads in vectors, warps by shuffles, one result a block. If the results are combined by an atomic or by a
// launch that is understood, blocks share the elements anew.
class ReduceGrid : public SourceMutator {
 public:
  std::string_view name() const override { return "reduce_grid"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "sums up in registers and by shuffles what blocks sum up by trees or atomics, with threads, items and blocks as "
           "parameters";
  }
  double weight() const override { return 3; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals =
        InPlainSource(context, ProposalsIn, ThreadLoops::kOfOneTurn, Preferred::kLeastWrittenOut, WithFlatBlocks);
    // Running all launches takes longer, and takes no sum of anything but elements.
    const auto changes_all = [&](const Proposal& proposal) { return ChangesAll(context, proposal); };
    if (std::none_of(proposals.begin(), proposals.end(), changes_all)) {
      const std::vector<Proposal> of_sum = InPlainSource(context, ProposalsOfSum);
      proposals.insert(proposals.begin(), of_sum.begin(), of_sum.end());
    }
    if (proposals.empty()) proposals = ArrayFormProposals(context);
    std::erase_if(proposals, [&](const Proposal& proposal) { return KeepsAxes(context, proposal); });
    return proposals;
  }

  std::vector<std::string> Refusals(const MutationContext& context) const override {
    if (!Proposals(context).empty()) return {};
    std::vector<std::string> refusals =
        RefusalsInPlainSource(context, ProposalsIn, RefusalsIn, ThreadLoops::kOfOneTurn, WithFlatBlocks);
    const std::string why = WhyNoArrayForms(context);
    if (!refusals.empty() && !why.empty()) refusals.push_back("all launches together: " + why);
    return refusals;
  }

 private:
  // Whether it changes every kernel that is launched.
  static bool ChangesAll(const MutationContext& context, const Proposal& proposal) {
    const SyntaxTree& tree = context.tree;
    return std::all_of(context.rendered.steps.begin(), context.rendered.steps.end(), [&](const Step& step) {
      if (!step.launch) return true;
      const std::string name = step.launch->kernel.substr(step.launch->kernel.rfind(':') + 1);
      return std::any_of(proposal.changes.begin(), proposal.changes.end(), [&](const Proposal::Change& change) {
        const int function = tree.node(change.node).function;
        return tree.node(function >= 0 ? function : change.node).name == name;
      });
    });
  }

  // Whether blocks become ones of one dimension in a grid that stays as it is, with more.
  static bool KeepsAxes(const MutationContext& context, const Proposal& proposal) {
    return std::any_of(proposal.launch.begin(), proposal.launch.end(), [&](const LaunchChange& change) {
      if (change.field != "block") return false;
      const auto with_axes = [&](const Step& step) {
        return step.launch && (step.launch->kernel == change.kernel || step.launch->kernel_expression == change.kernel) &&
               step.launch->block.size() > 1;
      };
      const auto sets_grid = [&](const LaunchChange& other) { return other.kernel == change.kernel && other.field == "grid"; };
      return std::any_of(context.rendered.steps.begin(), context.rendered.steps.end(), with_axes) &&
             std::none_of(proposal.launch.begin(), proposal.launch.end(), sets_grid);
    });
  }

  static std::vector<Proposal> ProposalsIn(const MutationContext& context) {
    std::vector<Proposal> proposals;
    for (const int kernel : Candidates(context)) {
      auto found = AsReduction(context, kernel);
      auto* reduction = std::get_if<Reduction>(&found);
      if (reduction == nullptr) continue;
      const Redistribution spread = RedistributionOf(context, *reduction);
      std::string names = context.tree.text();
      if (!WhyNotDivided(*reduction, spread).empty()) {
        if (reduction->turn.empty()) continue;
        reduction->blocks = Reduction::Blocks::kOwnTurns;
        reduction->part = reduction->turn;
      }
      Proposal alone = Rewritten(context, *reduction, spread, names);
      if (spread.consumer) {
        // Both launches at once: once the second is another, it is no longer known that it combines the first's results.
        Proposal both = alone;
        Add(Rewritten(context, *spread.consumer, {"its grid stays", false, {}, 0}, names), both);
        proposals.push_back(std::move(both));
      }
      proposals.push_back(std::move(alone));
    }
    return proposals;
  }

  static const std::variant<GridSum, std::string>& SumOf(const MutationContext& context) {
    return context.tree.Kept<std::variant<GridSum, std::string>>(
        fmt::format("grid sum with {}", fmt::join(context.genome.parameters, ",")), [&] { return AsGridSum(context); });
  }

  // Of a source that is a sum as a whole.
  static std::vector<Proposal> ProposalsOfSum(const MutationContext& context) {
    const auto* const sum = std::get_if<GridSum>(&SumOf(context));
    return sum == nullptr ? std::vector<Proposal>{} : GridSumProposals(context, *sum);
  }

  static std::vector<std::string> RefusalsIn(const MutationContext& context) {
    std::vector<std::string> refusals;
    for (const int kernel : Candidates(context)) {
      const auto found = AsReduction(context, kernel);
      const auto* reduction = std::get_if<Reduction>(&found);
      std::string why;
      if (reduction == nullptr)
        why = std::get<std::string>(found);
      else if (reduction->turn.empty())
        why = WhyNotDivided(*reduction, RedistributionOf(context, *reduction));
      if (!why.empty()) refusals.push_back(fmt::format("{}: {}", context.tree.node(kernel).name, why));
    }
    const auto* const no_sum = std::get_if<std::string>(&SumOf(context));
    if (no_sum != nullptr && !no_sum->empty()) refusals.push_back(fmt::format("the launches: {}", *no_sum));
    return refusals;
  }

  // Blocks that share all elements take others in the child.
  static std::string WhyNotDivided(const Reduction& found, const Redistribution& spread) {
    const bool one_block = found.launch->grid.size() == 1 && found.launch->grid[0].text() == "1";
    const bool kept = found.blocks != Reduction::Blocks::kShareAll || one_block;
    return kept || spread.refusal.empty() || spread.same_number ? "" : spread.refusal;
  }

  // Kernels whose threads work together.
  static std::vector<int> Candidates(const MutationContext& context) {
    std::vector<int> kernels;
    for (const int kernel : Functions(context.tree)) {
      if (IsKernel(context.tree, kernel) && Cooperates(context.tree, kernel)) kernels.push_back(kernel);
    }
    return kernels;
  }

  static void Add(Proposal&& from, Proposal& to) {
    const auto append = [](auto& target, auto& source) { target.insert(target.end(), source.begin(), source.end()); };
    append(to.changes, from.changes);
    append(to.launch, from.launch);
    append(to.brings, from.brings);
    append(to.constraints, from.constraints);
    to.parameters.merge(from.parameters);
  }

  // `names` gets the names that the edit brings.
  static Proposal Rewritten(const MutationContext& context, const Reduction& found, const Redistribution& spread,
                            std::string& names) {
    const auto unused = [&](const char* wanted) {
      std::string name = UnusedName(names, wanted);
      names += " " + name;
      return name;
    };
    const ReductionParameters parameters{unused("THREADS"), unused("ITEMS"), unused("VECTOR")};
    const bool shared = found.blocks == Reduction::Blocks::kShareAll;
    const bool spreads = spread.refusal.empty();
    const ReductionWriter writer(context, found, parameters, spreads || shared);
    Proposal proposal;
    proposal.changes.push_back({context.tree.node(found.kernel).children.back(), Placement::kReplace, writer.Body()});
    proposal.parameters = found.parameters;
    const std::string& kernel = found.launch->kernel;
    proposal.launch.push_back({kernel, "block", parameters.threads});
    if (found.launch->shared.text() != "0") proposal.launch.push_back({kernel, "shared", "0"});
    // A part that a block has to itself is often as small as the block was.
    const bool own = !spreads && (found.blocks == Reduction::Blocks::kOwnPart || found.blocks == Reduction::Blocks::kOwnTurns);
    if (!found.most_threads.empty())
      proposal.constraints.push_back(fmt::format("{} <= {}", parameters.threads, found.most_threads));
    proposal.brings = {{parameters.threads, kReductionThreads, InitialThreads(context, found, own ? 64 : 256)},
                       {parameters.items, kReductionItems, own ? 1 : 4}};
    if (const auto vectors = writer.Vectors(); vectors.size() > 1)
      proposal.brings.push_back({parameters.vector, vectors, vectors.back()});
    if (!spreads) return proposal;
    const std::string blocks = unused("BLOCKS");
    proposal.brings.push_back({blocks, kReductionBlocks, 1056});
    const std::string grid = Grid(context, found, parameters, blocks);
    proposal.launch.push_back(WithDimension(*found.launch, "grid", 0, grid));
    if (!spread.consumer) return proposal;
    std::vector<std::string> arguments = spread.consumer->launch->arguments;
    arguments[spread.count_argument] = grid;
    proposal.launch.push_back({spread.consumer->launch->kernel, "arguments", fmt::format("{}", fmt::join(arguments, ", "))});
    return proposal;
  }

  static std::int64_t InitialThreads(const MutationContext& context, const Reduction& found, std::int64_t wanted) {
    if (found.most_threads.empty()) return wanted;
    const auto most = Expression::Parse(found.most_threads).EvaluateInteger(ToVariables(context.genome.parameters));
    while (wanted > kReductionThreads.front() && wanted > most) wanted /= 2;
    return wanted;
  }

  // Never more blocks than before where each has its own place for its result.
  static std::string Grid(const MutationContext& context, const Reduction& found, const ReductionParameters& parameters,
                          const std::string& blocks) {
    const std::string& present = found.launch->grid[0].text();
    const auto size = LaunchedAs(context.tree, *found.launch, found.kernel, found.bound_parameter);
    const bool fixed = found.launch->grid[0].Names().empty();
    const auto is_atomic = [](const Reduction::Output& output) { return output.atomic; };
    const bool atomic = std::all_of(found.outputs.begin(), found.outputs.end(), is_atomic);
    if (atomic && fixed && size) return fmt::format("max(1, min(ceil_div({}, {}), {}))", *size, parameters.threads, blocks);
    return fmt::format("min({}, {})", present, blocks);
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeReduceGrid() { return std::make_unique<ReduceGrid>(); }

}  // namespace evo
