#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/gate/input_set.h"
#include "evaluator/reference/reference.h"

namespace evo {

// The inputs of one case, before they are drawn.
struct InputName {
  Case sizes;
  int generator = 0;
  std::uint64_t seed = 0;
};

// The task's input sets and reference answers on one device, made once and used by every candidate. A change of task drops them.
class InputCache {
 public:
  // `python` computes the answers of a task whose reference is a Python file.
  explicit InputCache(Device& device, std::unique_ptr<Reference> python = nullptr)
      : device_(device), python_(std::move(python)) {}

  // Makes `task` and its compiled reference, if that is compiled, the current ones. Does nothing on the device.
  void Use(const Task& task, const std::string& reference_source, const CompiledProgram& reference);

  // Draws the contents of sets ahead of time, several at once, without touching the device.
  void Draw(const std::vector<InputName>& wanted);

  // A set that is kept. Copy 0 is the set itself; each higher number is a copy of it at other addresses. Throws
  // InfrastructureFailure.
  InputSet& Get(const InputName& inputs, std::size_t copy = 0);
  // A set that is not kept. Throws InfrastructureFailure.
  std::unique_ptr<InputSet> Make(const InputName& inputs);
  // The same with these contents.
  std::unique_ptr<InputSet> Make(const Case& sizes, const DrawnArguments& contents, std::uint64_t seed);
  // What computes the task's right answers. Throws InfrastructureFailure.
  Reference& TaskReference();

 private:
  Device& device_;
  std::optional<Task> task_;
  std::string key_;
  std::string reference_source_;
  CompiledProgram compiled_reference_;
  std::unique_ptr<Reference> python_;
  std::optional<Program> reference_program_;
  std::unique_ptr<Reference> reference_;  // over reference_program_
  std::map<std::string, DrawnArguments> drawn_;
  std::map<std::string, std::unique_ptr<InputSet>> sets_;
};

}  // namespace evo
