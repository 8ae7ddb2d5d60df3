#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/rows/row_source.h"

namespace evo {

// What each of some kernels leaves, by buffer, in place of all launches of a source. `buffers` has those of the source
// (SourceRuns::buffers).
std::vector<std::map<std::string, BufferContents>> RowResultsOf(const MutationContext& context,
                                                                const std::vector<std::string>& buffers,
                                                                std::vector<RowKernelText> kernels, const LaunchTrial& trial);
// Integers for rows: different ones below a number, or all the same.
BufferContents LabelsBelow(std::int64_t count);
BufferContents LabelsOf(std::int64_t number);
// Whether elements are as expected, but for rounding: those that are expected.
bool AreNear(const BufferContents& expected, const BufferContents& stored);
// Takes out the candidates for one output that leave something else there.
void KeepMatching(const MutationContext& context, const std::vector<std::string>& buffers, const LaunchTrial& trial,
                  const BufferContents& expected, std::vector<RowKernelText>& candidates);

}  // namespace evo
