#pragma once

#include <optional>
#include <string>

#include "import/kernel_signatures.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// Why a directive of a template names something that the template and its task do not have: "line 3: evo:launch ..."; nullopt if
// there is no such one. `line`: the directive's.
struct LaunchObjection {
  int line = 0;
  std::string what;
};
std::optional<LaunchObjection> CheckNames(const KernelTemplate& one, const Task& task);

// Why a launch line does not fit its kernel: there is no such kernel, or the number or a type of the arguments differs. Says
// nothing of types that are not known for sure, such as a struct that a header declares.
std::optional<LaunchObjection> CheckLaunches(const KernelTemplate& one, const Task& task, const TemplateSignatures& signatures);

}  // namespace evo
