#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/workers/job_runner.h"
#include "kernel_templates/task.h"

namespace evo {

// Runs samples of a kernel's blocks at the sizes that are timed on a GPU, in the emulation of the cpu device with every access
// checked: a GPU starts blocks in order, so that a block that spoils what a later one writes is not noticed there. `worker_argv`:
// as in PipelineOptions. `arch`: what candidates are compiled for. The result is "clean", "error", "crash", "timeout",
// "unsupported" where the emulation lacks what the kernel uses, or "missing" where there is no host compiler.
ToolResult SampleEmulatedBlocks(const std::vector<std::string>& worker_argv, const Task& task, const std::string& source,
                                const std::string& arch, std::uint64_t seed, const std::stop_token& stop);

// What became of the job that asked for the samples. A worker that something else killed says nothing of the kernel.
ToolResult ReadBlockSample(const JobResult& result);

}  // namespace evo
