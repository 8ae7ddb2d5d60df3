#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/candidate.h"

namespace evo {

// Genomes and their changes in words. Texts of a genome are as it holds them: whoever shows them cleans or escapes them.

// Control characters and runs of white space as one space each, none at the ends.
std::string Folded(const std::string& text);
// At most `width` bytes, with "..." at the end of what was longer; never ends within a character. Precondition: width > 3.
std::string Cut(const std::string& line, std::size_t width);

// "BLOCK=64 WARPS=4"; "none" if there are no parameters.
std::string Describe(const Parameters& parameters);
// "use_fmaf: replace an if in scale by `y[i] = 2 * x[i];`", on one line.
std::string Describe(const Edit& edit);
// What a candidate changed against its first parent: its new parameter values and the edits it added or lost. An edit of the
// candidate's own operator comes without the operator's name, which is shown beside this.
std::string DescribeStep(const Candidate& candidate, const Candidate* parent);

// The edits of the child that the parent does not have, in the child's order. They point into the child.
std::vector<const Edit*> AddedEdits(const Genome& child, const Genome& parent);

}  // namespace evo
