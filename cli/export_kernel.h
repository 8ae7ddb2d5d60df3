#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/history.h"
#include "kernel_templates/task.h"

namespace evo {

// What an exported kernel tells of itself.
struct KernelExport {
  RunRecord run;
  std::optional<Task> task;  // none if its files are gone or have changed: then the launch numbers are left out
  CandidateRecord candidate;
  std::optional<CandidateRecord> baseline;
  std::vector<CandidateRecord> lineage;  // from the first ancestor to the candidate
  std::string source;                    // rendered; carries its evo: directives
};

// A self-contained .cu: a comment with how to launch it, what was measured and where it comes from, then the source. It compiles
// with nvcc and is itself a template that evo takes. Throws Error if the launches of a search case cannot be planned.
std::string ExportKernel(const KernelExport& input);

}  // namespace evo
