#pragma once

#include <vector>

#include "kernel_templates/task.h"

namespace evo {

// Which of a task's case lists a device uses: those sized for a GPU, or the smaller ones for an emulator.
enum class CaseScale { kGpu, kEmulated };

inline const std::vector<Case>& SearchCases(const Task& task, CaseScale scale) {
  return scale == CaseScale::kEmulated ? task.search_cpu : task.search_cuda;
}

inline const std::vector<Case>& HeldOutCases(const Task& task, CaseScale scale) {
  return scale == CaseScale::kEmulated ? task.held_out_cpu : task.held_out;
}

}  // namespace evo
