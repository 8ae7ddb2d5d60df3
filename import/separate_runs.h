#pragma once

#include "import/host_code.h"

namespace evo {

// Whether the iterations of a loop around launches have nothing to do with one another, since each allocates all that its kernels
// get. Such a loop tries one size after another, and is no part of what is computed.
bool RunsSeparately(const SourceProgram& program, const HostCode& host, const HostLoop& loop);
// Throws UsageError if a loop copies one buffer to another, which steps of a task cannot.
void RefuseCopies(const SourceProgram& program, const HostCode& host, const HostLoop& loop);
// Takes loops that run separately out of these.
std::vector<HostLoop> TakeSeparate(const SourceProgram& program, const HostCode& host, std::vector<HostLoop>& loops);
// What the variable of such a loop is in its last iteration, as far as the loop's head is of numbers; nullopt for other
// variables.
std::optional<Number> LastOf(const std::vector<HostLoop>& separate, const SourceProgram& program,
                             const ProgramVariable& variable);

}  // namespace evo
