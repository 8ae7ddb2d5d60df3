#pragma once

#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/guarded_buffer.h"
#include "evaluator/gate/poison.h"
#include "evaluator/gate/program.h"
#include "kernel_templates/launch_plan.h"

namespace evo {

// The address and size of an argument's buffer; size 0 if no argument has that name.
struct BufferPlace {
  Address address = 0;
  std::size_t bytes = 0;
};

// A program's launches for one case, and its workspaces.
class LaunchBinding {
 public:
  // Plans the launches and allocates the workspaces.
  static std::variant<LaunchBinding, Failure> Make(Device& device, const Program& program, const Task& task, const Case& sizes);

  // The sequence over the argument buffers that `place_of` knows by name.
  Sequence Bind(const std::function<BufferPlace(const std::string&)>& place_of) const;

  // One line that names the launches in order: CaseMeasurement::launches.
  std::string Describe() const;

  // Threads of all launches together.
  std::uint64_t Threads() const;
  // Blocks of the launch that has most of them.
  std::uint64_t MostBlocks() const;

  // Poison for the workspaces, before each run: a program that reads before it writes gives wrong answers.
  std::vector<DevicePoison> PoisonWith(const Poison& poison) const;
  // Adds inspections of the workspaces' guards. From their results: the name of a workspace that was written outside; empty if
  // none.
  void AppendInspections(std::vector<Inspection>& inspections) const;
  std::string Overwritten(std::span<const InspectionResult> seen) const;

 private:
  LaunchPlan plan_;
  std::vector<std::size_t> kernel_of_step_;  // index into CompiledProgram::kernels; unused for memsets
  std::vector<GuardedBuffer> workspaces_;    // as plan_.workspaces
};

}  // namespace evo
