#pragma once

#include <string>
#include <vector>

#include "cli/command_context.h"
#include "core/evaluator.h"
#include "db/history.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// A kernel of anybody, to be judged by a task's rules.
struct KernelToVerify {
  std::string task;                       // name or folder
  std::vector<std::string> task_folders;  // -I
  HeaderFolders header_folders;           // --include
  std::string file;                       // a .cu with evo:launch lines
  std::string device = "auto";
  std::string arch;
  std::string l2 = "hot";
  bool tools = true;
  CheckEffort effort;
};

// A file that is to be taken as a template of the task. Throws UsageError, with an example of a launch line if it has none.
KernelTemplate LoadKernel(const std::string& file, const Task& task, const HeaderFolders& headers = {});
// The template at its defaults, as a candidate of generation 0.
Candidate ToCandidate(CandidateId id, const KernelTemplate& kernel);

// Evaluates the kernel as a search evaluates a template and checks it as a champion against the task's baseline. Nothing is
// stored. Throws UsageError if the file or the task cannot be taken, Error if the device or the baseline fails, Interrupted.
CandidateRecord VerifyKernel(const KernelToVerify& asked, const CommandContext& context);

}  // namespace evo
