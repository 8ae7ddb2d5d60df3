#pragma once

#include <optional>

#include "mutators/mutator.h"

namespace evo {

// The genome with the change that a mutator proposes for it that is most like an edit of that mutator on another genome: in the
// same function, and with most words in common. It is made anew, so that it rests on the code that it changes, as any edit of the
// mutator does. Parameters that it brings have the values `initial` of those of `edit`, where these are possible. nullopt if
// nothing that is alike is proposed.
std::optional<Genome> WithAlikeEdit(const SourceMutator& mutator, const MutationContext& context, const Edit& edit);

}  // namespace evo
