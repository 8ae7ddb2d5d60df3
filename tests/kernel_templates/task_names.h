#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kernel_templates/task.h"

namespace evo {

// The names of the tasks in a folder, sorted: a test of all of them needs no list.
inline std::vector<std::string> TaskNames(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::filesystem::path& task : FindTasks({folder})) names.push_back(task.filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace evo
