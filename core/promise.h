#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/genome.h"

namespace evo {

// What an operator promises of its child for every input for which the parent has a defined result: one without a race, a read of
// memory that was not written, or an access outside of a buffer. The order is from the strongest to the weakest.
enum class Promise {
  // The same bits, infinities and signs of zero included, and NaN where the parent stores NaN: every stored value is computed by
  // the same operations on the same values in the same order. Which products and sums a compiler contracts is not part of it,
  // since it may decide that anew for every source.
  kExact,
  // The same value if arithmetic were exact, with real numbers of any size: sums in another order, approximate functions, fma,
  // another floating-point type. Rounding, overflow and the sign of zero may differ, and the comparison decides whether they may.
  kReassociating,
  // No edit of its own. The child is as right as its template is at every parameter value that the template declares, and as the
  // edits of its parents are.
  kInherited,
  // Nothing: a delete, a replacement, a changed constant, or a change whose conditions are likely and not proven.
  kUnproven,
};

// "exact", "reassociating", "inherited", "unproven". Names never change.
std::string_view ToString(Promise promise);

// By operator name. An operator that is not among them promises nothing.
using Promises = std::map<std::string, Promise>;
Promise PromiseOf(const Promises& promises, const std::string& op);

// The edits of a genome whose operators promise nothing, in its order.
std::vector<const Edit*> UnprovenEdits(const Genome& genome, const Promises& promises);

}  // namespace evo
