#include "mutators/breeding/proposal_memory.h"

#include <algorithm>

namespace evo {
namespace {

// As many as a generation has.
constexpr std::size_t kParents = 64;

}  // namespace

ProposalMemory::Parent& ProposalMemory::ParentOf(const Genome& genome, const std::string& source) {
  const auto found = std::find_if(parents_.begin(), parents_.end(),
                                  [&](const Parent& one) { return one.source == source && one.genome == genome; });
  if (found != parents_.end()) {
    parents_.splice(parents_.begin(), parents_, found);
  } else {
    parents_.push_front({genome, source, {}});
    if (parents_.size() > kParents) parents_.pop_back();
  }
  return parents_.front();
}

std::optional<Genome> ProposalMemory::Mutate(const SourceMutator& mutator, const MutationContext& context,
                                             const std::string& source, Rng& rng) {
  Parent& parent = ParentOf(context.genome, source);
  auto known = parent.proposals.find(mutator.name());
  if (known == parent.proposals.end()) known = parent.proposals.emplace(mutator.name(), mutator.Proposals(context)).first;
  return mutator.Drawn(context, known->second, rng);
}

}  // namespace evo
