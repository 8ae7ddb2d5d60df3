#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "evaluator/gate/input_program.h"
#include "evaluator/session/input_cache.h"

namespace evo {

// The inputs of one task on one device: how many sets there are of each case, and at which addresses they are timed. The device's
// policy and its memory decide. Everything is drawn from the seeds.
class InputPool {
 public:
  // One seed for each input set of a case; the last one is the timer's.
  InputPool(Device& device, InputCache& cache, Task task, std::vector<std::uint64_t> seeds);

  const Task& task() const { return task_; }
  const std::vector<Case>& search_cases() const;
  const std::vector<Case>& held_out_cases() const;
  // The seed of every set that is checked but not timed.
  std::uint64_t check_seed() const { return seeds_.front(); }
  std::uint64_t timer_seed() const { return seeds_.back(); }
  // As Reference::Milliseconds.
  double ReferenceMilliseconds() const { return cache_.TaskReference().Milliseconds(); }

  // Number of legal input distributions: as many as the argument with the most of them lists.
  int Generators() const { return ListedGenerators(task_); }
  // The same, and one more for a case with recorded data.
  int Generators(const Case& sizes) const { return Generators() + (sizes.data.empty() ? 0 : 1); }
  bool IsRecorded(const Case& sizes, int generator) const { return !sizes.data.empty() && generator == Generators(); }
  // What the set of that number to check a program on holds.
  DrawnArguments Contents(const Case& sizes, int generator) const { return cache_.Contents({sizes, generator, check_seed()}); }
  // Number of them that the search cases are checked with.
  int SearchGenerators() const;
  // Sizes that the task does not list, for a champion candidate.
  std::vector<Case> SizesToTry() const;
  // At most `most` inputs of the standard battery of the small case, evenly spread; all of them for 0.
  const std::vector<InputProgram>& SmallBattery(std::size_t most);
  // Number of sets that a case is timed on.
  std::size_t SetCount(const Case& sizes) const;

  // Number of sets that Place answers.
  std::size_t Sets() const { return Names().size(); }
  // Draws the contents of all sets without touching the device.
  void Draw();
  // The same for UnansweredSet of that case, and no other is ever asked for.
  void DrawUnanswered(const Case& sizes);
  // Puts all sets on the device and makes sure that no answer without a computation passes on them. Does nothing the second
  // time. Throws InfrastructureFailure, as do the methods below.
  void Place();

  // The sets that a search case is timed on, in the order in which the timer uses them.
  std::vector<InputSet*> TimedSets(const Case& sizes);
  // The set to check a program on. For a search case it lies at addresses that are timed, so that a kernel that recognises
  // these addresses meets all legal inputs there.
  InputSet& CheckedSet(const Case& sizes, int generator);
  // Inputs of the small case for one candidate alone.
  std::unique_ptr<InputSet> MakeSmall(int generator, std::uint64_t seed);
  // Inputs with these contents, and the reference's answer to them. `seed`: of the guards.
  std::unique_ptr<InputSet> Make(const Case& sizes, const DrawnArguments& contents, std::uint64_t seed) const;
  // Inputs of the first generator without an answer and without memory for one, which stay for the next time: the reference runs
  // only where arguments are derived from others. Only for one case of the task.
  InputSet& UnansweredSet(const Case& sizes);

 private:
  std::vector<InputName> Names() const;
  std::size_t CopyCount(const Case& sizes) const;
  std::size_t ArgumentBytes(const Case& sizes) const;
  bool IsSearchCase(const Case& sizes) const;
  void RefuseLaxTask();

  Device& device_;
  InputCache& cache_;
  Task task_;
  std::vector<std::uint64_t> seeds_;
  bool placed_ = false;
  std::unique_ptr<InputSet> unanswered_;
  std::map<std::size_t, std::vector<InputProgram>> batteries_;  // of the small case, by the number asked for
};

}  // namespace evo
