#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/history.h"
#include "kernel_templates/task.h"

namespace evo {

// What the comment of an exported kernel is written from.
struct KernelExport {
  RunRecord run;
  std::optional<Task> task;  // unset if its files are gone or have changed; then the launches are left out
  CandidateRecord candidate;
  std::optional<CandidateRecord> baseline;
  std::vector<CandidateRecord> lineage;  // from the first ancestor to the candidate
  std::string source;                    // rendered; carries its evo: directives
};

// A self-contained .cu: a comment that says how to launch the kernel, what was measured and where it comes from, then the source.
// It compiles with nvcc, and evo takes it as a template. Throws Error if the launches of a search case cannot be planned.
std::string ExportKernel(const KernelExport& input);

// A rendered source without the pragma that evo adds, which serves only the precompiled headers of NVRTC.
std::string WithoutHeaderStop(const std::string& source);

}  // namespace evo
