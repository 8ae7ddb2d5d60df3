#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/comparison.h"
#include "evaluator/gate/guarded_buffer.h"
#include "evaluator/gate/launch_binding.h"
#include "evaluator/gate/program.h"
#include "kernel_templates/task.h"

namespace evo {

// The arguments of one case on the device, drawn from one seed, with the trusted answer beside them on the host. Outputs lie in
// buffers of their own. Used by one program after another; each leaves the inputs as they were or is found out.
class InputSet {
 public:
  // `generator` counts through the legal generators: input i is drawn by its generator number `generator` modulo how many it has. Runs the
  // reference. A Failure here is the task's or the device's fault, never a candidate's.
  static std::variant<std::unique_ptr<InputSet>, Failure> Make(Device& device, const Task& task, const Case& sizes, int generator,
                                                               std::uint64_t seed, Program& reference);

  const Case& sizes() const { return sizes_; }
  const Variables& variables() const { return variables_; }
  BufferPlace PlaceOf(const std::string& name) const;

  // Before a run: outputs are poison (NaN, or `sentinel` bytes for integers), inout arguments as drawn, guards fresh.
  DeviceStatus Reset(std::uint8_t sentinel);
  // The same, to be done on the device before each timed launch.
  Preparation TimedPreparation(std::uint8_t sentinel) const;
  std::vector<DeviceTouch> Touches() const;
  // Bytes of inputs and outputs together.
  std::size_t Footprint() const;

  struct Answer {
    DeviceStatus status;
    std::vector<std::vector<std::byte>> outputs;   // in the order of the arguments
    std::string violation;                         // a guard or an input was changed: which; empty if none
  };
  Answer Read() const;
  // Over all outputs; message of the first that is not acceptable.
  Difference Judge(const Answer& answer) const;

 private:
  struct Bound {
    const Argument* argument;
    GuardedBuffer buffer;
    std::vector<std::byte> original;               // inputs and inouts, as drawn
    std::unique_ptr<GuardedBuffer> pristine;       // inouts: the copy on the device
    std::vector<double> reference;                 // outputs and inouts
  };
  InputSet(Device& device, const Task& task, const Case& sizes);
  DeviceStatus Draw(int generator, std::uint64_t seed);
  static std::vector<std::byte> ReferenceStart(const Bound& bound);
  DeviceStatus RunReference(Program& reference);

  Device& device_;
  const Task task_;      // a copy: cached sets outlive the job that brought the task
  Case sizes_;
  Variables variables_;
  std::vector<Bound> bound_;
};

}  // namespace evo
