#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/gate/input_set.h"
#include "evaluator/gate/recorded_contents.h"
#include "evaluator/messages/requests.h"
#include "evaluator/reference/reference.h"

namespace evo {

// The inputs of one case, before they are drawn.
struct InputName {
  Case sizes;
  int generator = 0;  // a position in the task's lists, or ListedGenerators(task) for the case's recorded data
  std::uint64_t seed = 0;
};

// The task's input sets and reference answers on one device, made once and used by every candidate. A change of task drops them.
class InputCache {
 public:
  // `python` computes the answers of a task whose reference is a Python file.
  explicit InputCache(Device& device, std::unique_ptr<Reference> python = nullptr)
      : device_(device), python_(std::move(python)) {}

  // Makes `task` and its compiled reference, if that is compiled, the current ones. Does nothing on the device. `recorded`: data
  // of its cases. Throws Error if that does not fit the task.
  void Use(const Task& task, const std::string& reference_source, const CompiledProgram& reference,
           const AttachedData& recorded = {});
  // Whether this is the recorded data of the case, which has the number behind those of the listed generators.
  bool IsRecorded(const InputName& inputs) const;
  // What these inputs hold, without what is derived from them. `memory`: as for DrawArguments.
  DrawnArguments Contents(const InputName& inputs, DrawnArguments memory = {}) const;

  // Draws the contents of the first of these sets ahead of time, several at once, without touching the device: as many as 2 GiB
  // hold, and one at least.
  void Draw(const std::vector<InputName>& wanted);
  // As Get for each, in this order. At most two sets more than were drawn ahead are in the host's memory. `meanwhile`: the next
  // one is drawn while one is placed.
  void Place(const std::vector<InputName>& wanted, bool meanwhile);

  // Forgets the recorded data. What was drawn of it stays. The next Use of the same task brings it again.
  void DropRecorded() {
    recorded_.clear();
    key_.clear();
  }

  // A set that is kept. Copy 0 is the set itself; each higher number is a copy of it at other addresses. Throws
  // InfrastructureFailure.
  InputSet& Get(const InputName& inputs, std::size_t copy = 0);
  // A set that is not kept. Throws InfrastructureFailure.
  std::unique_ptr<InputSet> Make(const InputName& inputs);
  // The same without an answer: the reference runs only where arguments are derived from others.
  std::unique_ptr<InputSet> MakeUnanswered(const InputName& inputs);
  // The same with these contents.
  std::unique_ptr<InputSet> Make(const Case& sizes, DrawnArguments contents, std::uint64_t seed) {
    return Make(sizes, std::move(contents), seed, TaskReference());
  }
  // Makes the derived arguments of these contents. A Failure is that of the reference.
  std::optional<Failure> Derive(const Case& sizes, DrawnArguments& contents);
  // What computes the task's right answers. Throws InfrastructureFailure.
  Reference& TaskReference();

 private:
  class Placing;

  DrawnArguments TakePlaced() { return placed_ ? std::exchange(*placed_, {}) : DrawnArguments(); }
  // Drawn ahead of time or now.
  DrawnArguments TakeContents(const InputName& inputs);
  std::unique_ptr<InputSet> Make(const Case& sizes, DrawnArguments contents, std::uint64_t seed, Reference& reference);

  Device& device_;
  std::optional<Task> task_;
  std::string key_;
  AttachedProgram compiled_reference_;
  std::unique_ptr<Reference> python_;
  std::optional<Program> reference_program_;
  std::unique_ptr<Reference> reference_;              // over reference_program_
  std::map<std::string, RecordedContents> recorded_;  // by the name of the case
  std::map<std::string, DrawnArguments> drawn_;
  // Of the set that was made last, whose memory the next one takes; while several are placed.
  std::optional<DrawnArguments> placed_;
  std::map<std::string, std::unique_ptr<InputSet>> sets_;
};

}  // namespace evo
