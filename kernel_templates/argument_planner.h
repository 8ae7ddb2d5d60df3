#pragma once

#include <string>
#include <variant>

#include "kernel_templates/launch_argument.h"
#include "kernel_templates/launch_plan.h"
#include "kernel_templates/plan_scope.h"

namespace evo {

// Makes what a launch passes from the text of its launch line.
class ArgumentPlanner {
 public:
  // The arguments must outlive the object.
  ArgumentPlanner(const KernelTemplate& rendered, const PlanScope& scope) : rendered_(rendered), scope_(scope) {}

  // Throws for an argument that names nothing, or that does not fit its type.
  LaunchArgument Plan(const std::string& text) const;

 private:
  TensorMapUse PlanMap(const TensorMapDirective& map) const;
  std::variant<BufferUse, ScalarUse> PlanField(const LaunchArgumentText& written) const;
  ScalarUse PlanCast(const LaunchArgumentText& written) const;
  Number ValueOf(const std::string& text) const;

  const KernelTemplate& rendered_;
  const PlanScope& scope_;
};

}  // namespace evo
