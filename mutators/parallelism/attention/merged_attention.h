#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "mutators/mutator.h"
#include "mutators/parallelism/attention/attention_additions.h"

namespace evo {

// A source of which the launches' results are an attention as one with one kernel, in which a thread has a row, for what rewrites
// such kernels.
struct MergedAttention {
  std::shared_ptr<const SyntaxTree> tree;  // null if the source has none
  KernelTemplate rendered;
  Proposal proposal;  // the change of the source that makes it so
  std::string kernel;
  AttentionAdditions additions;  // what its attention is beside what that kernel computes
  std::string why;               // why it has none, where somebody may ask
};

// The attention of a kernel in `source`, which is the context itself or its merged source, with what it has more.
Attention WholeAttention(const MutationContext& context, const MutationContext& source, const Attention& found);

// Whether `source` is the merged one of the context, of which a head has one query.
bool HasOneRow(const MutationContext& context, const MutationContext& source);

// Found once for each source.
const MergedAttention& MergedAttentionIn(const MutationContext& context);

// The change of the source that merges its kernels and then makes this change of the merged one; nullopt if that cannot be
// written.
std::optional<Proposal> WithMerged(const MergedAttention& merged, const Proposal& proposal);

using ProposeChange = std::function<void(Proposal)>;

// Lets `visit` propose changes of the source and, if there are none, of the source with its kernels merged, as changes of the
// source itself. It says whether its kernels alone are all that there is. Gives what was tried of merging; null if it was not
// necessary.
const MergedAttention* VisitMerged(const MutationContext& context, const ProposeChange& propose,
                                   const std::function<bool(const MutationContext&, const ProposeChange&)>& visit);

}  // namespace evo
