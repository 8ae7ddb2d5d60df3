#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/comparison.h"
#include "evaluator/gate/guarded_buffer.h"
#include "evaluator/gate/launch_binding.h"
#include "evaluator/gate/program.h"
#include "kernel_templates/task.h"

namespace evo {

// The contents of a task's inputs and inouts on the host, in the order of the arguments; empty for other arguments.
using DrawnArguments = std::vector<std::vector<std::byte>>;

// Each input is drawn by its generator number `generator`, modulo the number of generators that it has.
DrawnArguments DrawArguments(const Task& task, const Case& sizes, int generator, std::uint64_t seed);

// The arguments of one case on the device, with the reference answer. Outputs lie in buffers of their own. One program after
// another uses them; a program that changes the inputs is found out.
class InputSet {
 public:
  // Puts the arguments on the device and runs the reference. A Failure here is the task's or the device's fault, never a
  // candidate's.
  static std::variant<std::unique_ptr<InputSet>, Failure> Make(Device& device, const Task& task, const Case& sizes,
                                                               const DrawnArguments& drawn, std::uint64_t seed,
                                                               Program& reference);

  // The same arguments at other addresses, with the same reference answer. They lie one behind the other from the start of a
  // page: their relative addresses, which move a kernel's time by a percent, do not depend on earlier allocations.
  std::variant<std::unique_ptr<InputSet>, Failure> Copy(std::uint64_t guard_seed) const;

  // The set that this is a copy of, or itself. For comparison only: a program gives the same answer on both.
  const InputSet* original() const { return original_; }

  const Case& sizes() const { return sizes_; }
  const Variables& variables() const { return variables_; }
  BufferPlace PlaceOf(const std::string& name) const;

  // What to do before each run: outputs get poison (NaN, or `sentinel` bytes for integers), inout arguments the drawn values.
  // First restores whatever the last inspection found overwritten.
  Preparation Prepare(std::uint8_t sentinel);
  std::vector<DeviceTouch> Touches() const;
  // Bytes of inputs and outputs together.
  std::size_t Footprint() const;

  // The reference's answers, one for each output, in the order of the arguments.
  std::vector<std::vector<double>> References() const;
  // The check of each output for these sizes, likewise.
  std::vector<OutputCheck> Checks() const;
  // One for each output, in the order of the arguments. Inputs that the task lists need none.
  void Allow(std::vector<Allowance> allowances) { allowances_ = std::move(allowances); }

  // What a run has left behind.
  struct Answer {
    DeviceStatus status;
    std::string violation;              // a guard or an input was changed: which; empty if none
    Difference difference;              // over all outputs; the message is of the first that is not acceptable
    std::vector<Difference> outputs;    // one for each, in the order of the arguments
    std::vector<std::uint64_t> hashes;  // of the outputs' bytes, in the order of the arguments
    std::vector<std::uint64_t> state;   // the hashes that the caller asked for
  };
  // Also inspects the workspaces of `binding`, if given, and takes the hashes `state`.
  Answer Inspect(const LaunchBinding* binding, std::span<const Inspection> state = {});

  // For answers and contents made without a kernel: the addresses of an argument's contents, of its reference (0 for an input),
  // and of a copy of what was drawn for it, which no program gets (0 for an output).
  struct View {
    const Argument* argument;
    BufferPlace place;
    Address reference;  // as many doubles as there are elements
    Address contents = 0;
  };
  std::vector<View> Views() const;

 private:
  struct Bound {
    const Argument* argument;
    GuardedBuffer buffer;
    std::shared_ptr<GuardedBuffer> reference;  // outputs and inouts, as doubles; constant once the reference has run
  };
  // Memory that holds all arguments of a copied set.
  struct Block {
    DeviceMemory& memory;
    Address address;
    Block(DeviceMemory& from, std::size_t bytes) : memory(from), address(from.Allocate(bytes)) {}
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() {
      if (address != 0) memory.Free(address);
    }
  };
  InputSet(Device& device, const Task& task, const Case& sizes);
  DeviceStatus Allocate(std::uint64_t guard_seed, bool together);
  DeviceStatus Place(const DrawnArguments& drawn, std::uint64_t seed);
  DeviceStatus MakeReferenceBuffer(Bound& bound, const std::vector<std::byte>& drawn);
  DeviceStatus RunReference(Program& reference);
  std::pair<double, double> ValuesAt(const Bound& bound, std::uint64_t index) const;

  Device& device_;
  const Task task_;  // a copy: cached sets outlive the job that brought the task
  Case sizes_;
  Variables variables_;
  std::unique_ptr<Block> block_;
  std::vector<Bound> bound_;
  std::vector<Allowance> allowances_;
  const InputSet* original_ = this;
  bool overwritten_ = false;
};

}  // namespace evo
