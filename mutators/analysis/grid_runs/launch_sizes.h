#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/expression.h"
#include "mutators/mutator.h"

namespace evo {

// The integers that a launch line passes to a kernel, as expressions of sizes.
class LaunchSizes {
 public:
  // The context must outlive the object.
  LaunchSizes(const MutationContext& context, const LaunchDirective& launch, int kernel);

  // Why the launch line gives no numbers; else empty.
  const std::string& refusal() const { return refusal_; }
  // The sizes that the launch line names for arguments, then those of AddNames, each once.
  const std::vector<std::string>& names() const { return names_; }
  // Adds the sizes that another expression of the launch line names.
  void AddNames(const Expression& expression);
  // The kernel's integers, and what the launch line passes for them.
  const std::vector<std::pair<int, Expression>>& arguments() const { return arguments_; }
  // A real number for each parameter of the kernel, no two the same.
  const std::map<int, double>& reals() const { return reals_; }

 private:
  const MutationContext& context_;
  std::string refusal_;
  std::vector<std::string> names_;
  std::vector<std::pair<int, Expression>> arguments_;
  std::map<int, double> reals_;
};

}  // namespace evo
