#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernel_templates/json_value.h"
#include "kernel_templates/task.h"

namespace evo {

// What computes a task's right answers, as task.json's key "reference" says it.
struct ReferenceName {
  ReferenceKind kind = ReferenceKind::kKernels;
  std::string file = "reference.cu";  // in the task's folder; that of the baseline for kBaseline
};

// Reads it from the root of a task.json. Throws UsageError.
ReferenceName ReadReferenceName(const JsonValue& root);

// Reads the text of the file that the task.json names: a template with its parts in place, or a Python file as it is. Throws
// UsageError.
std::string LoadReferenceText(const std::string& task_json, const std::filesystem::path& directory, const HeaderFolders& headers);

// Checks that kernels which compute the right answers write every output, take outputs as doubles (those of a baseline: in their
// own types), and can be launched in all these cases, so that no run fails later. A Python file is checked by its interpreter
// when a run starts. Throws UsageError with the file.
void CheckReference(const Task& task, const std::vector<const Case*>& cases);

}  // namespace evo
