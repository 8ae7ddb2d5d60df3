#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_block.h"
#include "mutators/mutator.h"

namespace evo {

// A mutator that looks at a kernel once and either proposes changes or says why it has none. It sees macro calls and templates
// written out where it finds nothing else to do.
class KernelVisitor : public SourceMutator {
 public:
  // Looking at a kernel may take a fifth of a second, so that what is found stays with the tree.
  std::vector<Proposal> Proposals(const MutationContext& context) const final {
    return context.tree.Kept<std::vector<Proposal>>(KeyOf("proposals", context), [&] { return Find(context); });
  }
  std::vector<std::string> Refusals(const MutationContext& context) const final {
    std::vector<std::string> refusals = RefusalsInPlainSource(
        context, [this](const MutationContext& source) { return ProposalsIn(source); },
        [this](const MutationContext& source) { return RefusalsIn(source); }, loops(), restate(), restatement_speaks());
    if (!Proposals(context).empty()) return refusals;
    for (std::string& why : RefusalsByResults(context)) {
      if (std::find(refusals.begin(), refusals.end(), why) == refusals.end()) refusals.push_back(std::move(why));
    }
    return refusals;
  }

 protected:
  using Propose = std::function<void(Proposal)>;
  using Refuse = std::function<void(std::string)>;

  // Visits the kernels of a source that `recognise` knows. It takes the context and a kernel, and gives what was found, or why
  // the kernel is not understood; an empty text passes over it in silence. `visit` takes what was found, and what refuses this
  // kernel.
  template <typename Recognise, typename Visitor>
  static void VisitRecognised(const MutationContext& context, const Refuse& refuse, Recognise recognise, Visitor visit) {
    const SyntaxTree& tree = context.tree;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel)) continue;
      const Refuse refuse_kernel = [&](const std::string& why) { refuse(fmt::format("{}: {}", tree.node(kernel).name, why)); };
      const auto found = recognise(context, kernel);
      if (const auto* why = std::get_if<std::string>(&found)) {
        if (!why->empty()) refuse_kernel(*why);
      } else {
        visit(std::get<0>(found), refuse_kernel);
      }
    }
  }

  // What it would change in a source as it is, and why it leaves kernels there.
  std::vector<Proposal> ProposalsIn(const MutationContext& context) const { return VisitedIn(context).proposals; }
  std::vector<std::string> RefusalsIn(const MutationContext& context) const { return VisitedIn(context).refusals; }

 private:
  struct Visited {
    std::vector<Proposal> proposals;
    std::vector<std::string> refusals;
  };
  // One visit gives both, and who asks for the reasons has asked for the changes before.
  const Visited& VisitedIn(const MutationContext& context) const {
    return context.tree.Kept<Visited>(KeyOf("visit", context), [&] {
      const StepBudget budget;
      Visited visited;
      Visit(
          context, [&](Proposal proposal) { visited.proposals.push_back(std::move(proposal)); },
          [&](std::string refusal) { visited.refusals.push_back(std::move(refusal)); });
      return visited;
    });
  }
  std::string KeyOf(std::string_view what, const MutationContext& context) const {
    std::string key = fmt::format("{} of {} with {}", what, name(), fmt::join(context.genome.parameters, ","));
    for (const int function : Functions(context.tree)) key += IsKnownElsewhere(context, function) ? '1' : '0';
    return key;
  }
  std::vector<Proposal> Find(const MutationContext& context) const {
    const StepBudget budget;
    std::vector<Proposal> proposals = InPlainSource(
        context, [this](const MutationContext& source) { return ProposalsIn(source); }, loops(), Preferred::kLeastWrittenOut,
        restate());
    return proposals.empty() ? ProposalsByResults(context) : proposals;
  }

  // Which loops are taken away from the source that is looked at last.
  virtual ThreadLoops loops() const { return ThreadLoops::kOfOneTurn; }
  // How kernels that it does not know are written as ones that it knows.
  virtual Restate restate() const { return {}; }
  // Whether why they are none counts for kernels that it is silent about, too.
  virtual bool restatement_speaks() const { return false; }
  // What it finds by what launches leave, where the source shows nothing, and why there is nothing.
  virtual std::vector<Proposal> ProposalsByResults(const MutationContext&) const { return {}; }
  virtual std::vector<std::string> RefusalsByResults(const MutationContext&) const { return {}; }

  // Gives what it would change in the kernels of a source, and why it leaves others that it might be expected to change.
  virtual void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const = 0;
};

}  // namespace evo
