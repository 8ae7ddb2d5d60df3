#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// A buffer's element type and its number of elements.
struct BufferShape {
  Dtype dtype = Dtype::kF32;
  std::int64_t elements = 0;
  bool operator==(const BufferShape&) const = default;
};

// What names stand for while the steps of a case are planned: sizes, parameters, the task's arguments and the template's
// workspaces, with the buffers that swaps have exchanged so far.
class PlanScope {
 public:
  // The arguments must outlive the object. Throws for a parameter or a size macro that has the name of something else.
  PlanScope(const KernelTemplate& rendered, const Parameters& parameters, const Task& task, const Case& sizes);

  // Throws if the name is already that of a size, an argument or a parameter. `what`: "workspace".
  void CheckNew(const std::string& name, std::string_view what) const;
  // Sets, or removes, what expressions may name besides: the step of a loop.
  void Set(const std::string& name, std::int64_t value) { variables_[name] = Number::Integer(value); }
  void Remove(const std::string& name) { variables_.erase(name); }
  const Variables& variables() const { return variables_; }

  // nullptr if there is none.
  const Argument* FindArgument(std::string_view name) const;
  const Workspace* FindWorkspace(std::string_view name) const;
  BufferShape ShapeOf(const Argument& argument) const;
  BufferShape ShapeOf(const Workspace& workspace) const;

  // Exchanges the buffers of two names.
  void Swap(const std::string& first, const std::string& second);
  // The buffer that has this name after the swaps so far.
  const std::string& Current(const std::string& name) const;

 private:
  const KernelTemplate& rendered_;
  const Task& task_;
  Variables variables_;
  std::map<std::string, std::string> current_;  // the buffer of each name that was swapped
};

}  // namespace evo
