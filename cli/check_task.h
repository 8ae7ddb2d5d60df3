#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_context.h"
#include "core/evaluator.h"
#include "evaluator/device/device.h"
#include "evaluator/messages/requests.h"
#include "evaluator/messages/task_survey.h"
#include "kernel_templates/task.h"
#include "kernel_templates/template_parts.h"

namespace evo {

struct TaskToCheck {
  std::string task;              // folder, task.json or name
  std::string kernel;            // a further .cu; empty: none
  HeaderFolders header_folders;  // --include
  std::string device = "auto";
  std::string arch;
};

// What became of one template at its defaults.
struct CheckedTemplate {
  std::string name;  // of a file that is no template of the task: the file
  bool baseline = false;
  bool hopeless = false;  // it can only fail on this device
  ToolResult nvcc{"nvcc", "missing", ""};
  bool evaluated = false;  // else the reference fails
  Evaluation evaluation;
};

struct TaskCheck {
  Task task;
  DeviceInfo device;
  std::string arch;  // what candidates are compiled for
  TaskSurvey survey;
  std::optional<ReferenceCost> reference;  // of one in Python that does not fail
  std::vector<CheckedTemplate> templates;  // the baseline first
};

// Compiles every template of the task, runs it through the gate as a search does at its start, and looks at the task itself.
// Throws UsageError if the task, the file or the device cannot be taken, Error if the machine fails, Interrupted.
TaskCheck CheckTask(const TaskToCheck& asked, const CommandContext& context);

// Something that is wrong with a task or a template, or that a user should know.
struct Finding {
  bool fails = false;  // else a warning
  std::string text;
};

// Of the task, its cases, bounds and inputs; templates that fail are in a table of their own.
std::vector<Finding> FindingsOf(const TaskCheck& check);
// Whether the template counts as failing: a template for another device, and one that the machine was too busy to time, do not.
bool Fails(const CheckedTemplate& one);

}  // namespace evo
