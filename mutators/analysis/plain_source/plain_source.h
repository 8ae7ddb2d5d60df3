#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/plain_source/thread_loops.h"
#include "mutators/mutator.h"

namespace evo {

// Which source counts if a mutator finds something to do in several: the one that is written out least, or the one in which it
// changes most, since more loops are seen there.
enum class Preferred { kLeastWrittenOut, kMostChanges };

// What a mutator that rewrites whole kernels would do in a source. If it finds nothing, it looks at the source with macro calls
// and templates written out (SyntaxTree::plain), then without launch bounds (free_blocks.h), with the numbers of vectors
// and the elements of arrays as elements (vector_parameters.h, array_parameters.h), with the fields of structs and then sizes
// that are compiled in as parameters (struct_parameters.h, size_parameters.h), with one counter a loop (single_counters.h), with
// sums of elements in registers (register_sums.h) and without loops of threads; what it would change there becomes changes of the
// source itself: whole bodies of functions, in which nothing is left of the macros and of the templates' parameters. Launch
// bounds go from the functions that are changed.
using FindProposals = std::function<std::vector<Proposal>(const MutationContext&)>;
// The source that is looked at last: the text of one in which kernels that are not known are written as ones that are, if they
// compute the same; nullopt if there are none. Says why not, as "kernel: reason".
using Restate =
    std::function<std::optional<std::string>(const MutationContext&, const std::function<void(const std::string&)>& refuse)>;
std::vector<Proposal> InPlainSource(const MutationContext& context, const FindProposals& find,
                                    ThreadLoops loops = ThreadLoops::kOfOneTurn,
                                    Preferred preferred = Preferred::kLeastWrittenOut, const Restate& restate = {});

// The source with all of these written out that need no mutator, up to structs: for what looks at results alone.
MutationContext WrittenOut(const MutationContext& context);

// Why it leaves kernels as they are that it does not understand with macro calls and templates written out, either. With
// `by_itself` the reasons of a restatement count also for kernels that have no other one.
using FindRefusals = std::function<std::vector<std::string>(const MutationContext&)>;
std::vector<std::string> RefusalsInPlainSource(const MutationContext& context, const FindProposals& find,
                                               const FindRefusals& refuse, ThreadLoops loops = ThreadLoops::kOfOneTurn,
                                               const Restate& restate = {}, bool by_itself = false);

}  // namespace evo
