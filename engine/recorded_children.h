#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/child_choice.h"
#include "engine/recorded_evaluations.h"

namespace evo {

// What a replay does with a chosen child that is not recorded: it breeds others in the child's place, leaves the child out, or
// ends the run with an Error.
enum class MissingChild { kReplace, kLeaveOut, kEndRun };

// Makes another choice choose recorded children only, so that a ReplayEvaluator has an answer to all of them. As long as every
// child that the other choice prefers is recorded, the run is the same as without this.
class RecordedChildren : public ChildChoice {
 public:
  // `choice` and `recorded` outlive this.
  RecordedChildren(ChildChoice& choice, const RecordedEvaluations& recorded, MissingChild missing)
      : choice_(choice), recorded_(recorded), missing_(missing) {}

  int ToBreed(int wanted) override { return choice_.ToBreed(wanted); }
  // Throws Error if a child is missing and that is to end the run.
  std::vector<std::size_t> Choose(Offspring& offspring, std::size_t most, const BreedMore& more) override;
  void Await(const std::vector<Candidate>& candidates) override { choice_.Await(candidates); }
  void Learn(const GenerationRecord& record) override { choice_.Learn(record); }
  // "replayed; 3 of 40 children were not recorded", of the children bred in this process.
  std::string Summary() const override;

 private:
  bool IsMissing(const Offspring& offspring, std::size_t child) const;
  std::vector<std::size_t> ChooseRecorded(Offspring& offspring, std::size_t wanted, const BreedMore& more);

  ChildChoice& choice_;
  const RecordedEvaluations& recorded_;
  MissingChild missing_;
  std::size_t bred_ = 0;        // children
  std::size_t unrecorded_ = 0;  // of these
};

}  // namespace evo
