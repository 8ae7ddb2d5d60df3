#pragma once

#include <functional>
#include <optional>
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

// A program's launches for one case, its workspaces, and what fills its `__constant__` variables.
class LaunchBinding {
 public:
  // The place of an argument's buffer, by its name.
  using PlaceOf = std::function<BufferPlace(const std::string&)>;

  // Plans the launches and allocates the workspaces.
  static std::variant<LaunchBinding, Failure> Make(Device& device, const Program& program, const Task& task, const Case& sizes);

  // The sequence over the argument buffers that `place_of` knows by name.
  Sequence Bind(const PlaceOf& place_of) const;

  // What fills the `__constant__` variables at every load address, to be done before each run when the inputs are in place.
  std::vector<DeviceCopy> FillConstants(const PlaceOf& place_of) const;

  // What is launched: one image of the program, which must stay where it is.
  const LoadedImage& image() const { return *image_; }

  // One line that names the launches in order: CaseMeasurement::launches.
  std::string Describe() const;

  // Threads of all launches together.
  std::uint64_t Threads() const;
  // Blocks of the launch that has most of them.
  std::uint64_t MostBlocks() const;

  // Poison for the workspaces, before each run: a program that reads before it writes gives wrong answers.
  std::vector<DevicePoison> PoisonWith(const Poison& poison) const;
  // Adds inspections of the workspaces' guards and of the scalars for constants. From their results: where a program has written
  // that it must not write, as "outside its workspace w"; empty if nowhere.
  void AppendInspections(std::vector<Inspection>& inspections) const;
  std::string Overwritten(std::span<const InspectionResult> seen) const;

 private:
  std::optional<Failure> AddConstants(Device& device, const Program& program);

  const LoadedImage* image_ = nullptr;
  LaunchPlan plan_;
  std::vector<std::size_t> kernel_of_step_;       // index into CompiledProgram::kernels; unused for memsets
  std::vector<GuardedBuffer> workspaces_;         // as plan_.workspaces
  std::vector<GuardedBuffer> scalars_;            // of plan_.constants, those that are filled from scalars
  std::vector<std::vector<DeviceRange>> filled_;  // as plan_.constants
};

}  // namespace evo
