#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/gate/input_set.h"

namespace evo {

// The device or the reference failed: no candidate's fault.
struct InfrastructureFailure {
  std::string message;
};

// The task's input sets and reference answers on one device, made once and used by every candidate. Dropped when the task
// changes.
class InputCache {
 public:
  explicit InputCache(Device& device) : device_(device) {}

  // Makes `task` and its compiled reference the current ones. Does nothing on the device.
  void Use(const Task& task, const std::string& reference_source, const CompiledProgram& reference);

  // Draws the contents of sets ahead of time, several at once, without touching the device.
  struct Wanted {
    Case sizes;
    int generator = 0;
    std::uint64_t seed = 0;
  };
  void Draw(const std::vector<Wanted>& wanted);

  // One set, and from place 1 on a copy of it elsewhere in memory. Throws InfrastructureFailure.
  InputSet& Get(const Case& sizes, int generator, std::uint64_t seed, std::size_t place = 0);
  // One that is not kept. Throws InfrastructureFailure.
  std::unique_ptr<InputSet> Make(const Case& sizes, int generator, std::uint64_t seed);

 private:
  static std::string NameOf(const Case& sizes, int generator, std::uint64_t seed);
  Program& Reference();

  Device& device_;
  std::optional<Task> task_;
  std::string key_;
  std::string reference_source_;
  CompiledProgram compiled_reference_;
  std::optional<Program> reference_;
  std::map<std::string, DrawnArguments> drawn_;
  std::map<std::string, std::unique_ptr<InputSet>> sets_;
};

}  // namespace evo
