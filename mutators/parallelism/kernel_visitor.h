#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A mutator that looks at a kernel once and either proposes changes or says why it has none.
class KernelVisitor : public SourceMutator {
 public:
  std::vector<Proposal> Proposals(const MutationContext& context) const final {
    std::vector<Proposal> proposals;
    Visit(
        context, [&](Proposal proposal) { proposals.push_back(std::move(proposal)); }, [](std::string) {});
    return proposals;
  }
  std::vector<std::string> Refusals(const MutationContext& context) const final {
    std::vector<std::string> refusals;
    Visit(
        context, [](Proposal) {}, [&](std::string refusal) { refusals.push_back(std::move(refusal)); });
    return refusals;
  }

 protected:
  using Propose = std::function<void(Proposal)>;
  using Refuse = std::function<void(std::string)>;

 private:
  // Gives what it would change in the kernels of a source, and why it leaves others that it might be expected to change.
  virtual void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const = 0;
};

}  // namespace evo
