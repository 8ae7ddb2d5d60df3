#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/rows/row_source.h"

namespace evo {

// What a run of all launches read and stored.
struct RowsSeen {
  std::map<std::string, std::int64_t> inputs, outputs;  // numbers of elements, by buffer
  std::set<std::string> filled;                         // outputs that begin with what an evo:memset says
  std::vector<std::string> labels;                      // buffers of integers
  std::map<std::string, std::string> types;
  LaunchRuns::Sizes sizes;
};

// Kernels each of which may leave what one output got, with the same layout for all: an input [outer, length, inner].
struct RowCandidates {
  std::vector<std::vector<RowKernelText>> of_outputs;
  std::vector<std::string> outer, length, inner;  // sizes
  std::int64_t constant_length = 0;               // if no size says it
  bool exponential = false;

  bool Names(const std::string& size) const;
  std::int64_t LengthWith(const LaunchRuns::Sizes& sizes) const;
};

// All that fit the numbers of elements, those with few sizes first.
std::vector<RowCandidates> RowCandidatesIn(const MutationContext& context, const std::vector<SourceRuns::Link>& links,
                                           const RowsSeen& seen);

}  // namespace evo
