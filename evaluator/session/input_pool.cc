#include "evaluator/session/input_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "evaluator/gate/degenerate_answers.h"
#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/gate/standard_battery.h"
#include "evaluator/session/shape_probes.h"

namespace evo {
namespace {

// All sets of a case take at most this share of the device's memory, where they are large.
constexpr std::size_t kSetsShare = 16;
// Sets and copies that together are larger than this many times L2 fill it anyway: their addresses make no difference, and
// drawing more of them takes seconds.
constexpr std::size_t kSetsInL2 = 4;

}  // namespace

InputPool::InputPool(Device& device, InputCache& cache, Task task, std::vector<std::uint64_t> seeds)
    : device_(device), cache_(cache), task_(std::move(task)), seeds_(std::move(seeds)) {}

const std::vector<Case>& InputPool::search_cases() const { return SearchCases(task_, device_.policy().cases); }

const std::vector<Case>& InputPool::held_out_cases() const { return HeldOutCases(task_, device_.policy().cases); }

int InputPool::SearchGenerators() const { return device_.policy().checks_all_generators ? Generators() : 1; }

std::size_t InputPool::ArgumentBytes(const Case& sizes) const {
  const Variables variables = CaseVariables(task_, sizes);
  std::size_t bytes = 0;
  for (const Argument& argument : task_.arguments) {
    if (argument.role != Role::kScalar)
      bytes += static_cast<std::size_t>(ElementCount(argument, variables)) * ByteSize(argument.dtype);
  }
  return std::max<std::size_t>(1, bytes);
}

const std::vector<InputProgram>& InputPool::SmallBattery(std::size_t most) {
  const auto [found, is_new] = batteries_.try_emplace(most);
  if (is_new) found->second = StandardBattery(task_, task_.small, check_seed(), most == 0 ? kWholeBattery : most);
  return found->second;
}

std::vector<Case> InputPool::SizesToTry() const { return evo::SizesToTry(task_, device_.policy(), device_.info().memory_bytes); }

// With a hot L2 the inputs are read into it before each launch, however many sets there are.
std::size_t InputPool::SetCount(const Case& sizes) const {
  const DeviceInfo& device = device_.info();
  const std::size_t most = std::min(seeds_.size(), device_.policy().input_sets);
  if (device.memory_bytes == 0) return most;
  const std::size_t bytes = ArgumentBytes(sizes);
  std::size_t wanted = device.memory_bytes / kSetsShare / bytes;
  if (device.l2_bytes > 0) wanted = std::min(wanted, kSetsInL2 * device.l2_bytes / bytes);
  return std::clamp<std::size_t>(wanted, 2, most);
}

// How many copies of each set a case is timed on; 0: the set itself is timed.
std::size_t InputPool::CopyCount(const Case& sizes) const {
  const std::size_t most = device_.policy().input_copies;
  if (most == 0) return 0;
  return std::min(kSetsInL2 * device_.info().l2_bytes / (SetCount(sizes) * ArgumentBytes(sizes)), most);
}

bool InputPool::IsSearchCase(const Case& sizes) const {
  const std::vector<Case>& cases = search_cases();
  return std::any_of(cases.begin(), cases.end(), [&](const Case& one) { return one.name == sizes.name; });
}

// The sets that candidates meet during the search: the small case with every generator; the search cases with the first
// generator from several seeds, for timing, and with the others.
std::vector<InputName> InputPool::Names() const {
  std::vector<InputName> names;
  for (int g = 0; g < Generators(task_.small); ++g) names.push_back({task_.small, g, check_seed()});
  for (const Case& sizes : search_cases()) {
    for (std::size_t i = 0; i < SetCount(sizes); ++i) names.push_back({sizes, 0, seeds_[i]});
    for (int g = 1; g < SearchGenerators(); ++g) names.push_back({sizes, g, check_seed()});
  }
  return names;
}

void InputPool::Draw() { cache_.Draw(Names()); }

void InputPool::DrawUnanswered(const Case& sizes) {
  cache_.Draw({{sizes, 0, check_seed()}});
  cache_.DropRecorded();
}

// All sets exist before a candidate is loaded: they do not count as its time, and its code is not there when answers are
// computed.
void InputPool::Place() {
  if (placed_) return;
  cache_.Place(Names(), !device_.policy().watches_threads);
  for (const Case& sizes : search_cases()) {
    TimedSets(sizes);
    for (int g = 1; g < SearchGenerators(); ++g) CheckedSet(sizes, g);
  }
  RefuseLaxTask();
  placed_ = true;
}

void InputPool::RefuseLaxTask() {
  std::vector<InputSet*> sets;
  for (int g = 0; g < Generators(); ++g) sets.push_back(&cache_.Get({task_.small, g, check_seed()}));
  for (const Case& sizes : search_cases()) sets.push_back(&cache_.Get({sizes, 0, check_seed()}));
  const std::string passing = FindPassingDegenerateAnswer(device_, sets);
  if (passing.empty()) return;
  throw InfrastructureFailure(
      fmt::format("task {}: a kernel that {} would pass its checks; tighten the tolerance or add generators in task.json",
                  task_.name, passing));
}

// In each round over the sets every set lies at other addresses, so that even a short measurement meets several.
std::vector<InputSet*> InputPool::TimedSets(const Case& sizes) {
  std::vector<InputSet*> sets;
  const std::size_t copies = CopyCount(sizes);
  for (std::size_t round = 0; round < std::max<std::size_t>(copies, 1); ++round) {
    for (std::size_t i = 0; i < SetCount(sizes); ++i)
      sets.push_back(&cache_.Get({sizes, 0, seeds_[i]}, copies == 0 ? 0 : 1 + (round + i) % copies));
  }
  return sets;
}

InputSet& InputPool::CheckedSet(const Case& sizes, int generator) {
  const std::size_t copy = IsSearchCase(sizes) ? std::min<std::size_t>(CopyCount(sizes), 1) : 0;
  return cache_.Get({sizes, generator, check_seed()}, copy);
}

std::unique_ptr<InputSet> InputPool::MakeSmall(int generator, std::uint64_t seed) {
  return cache_.Make({task_.small, generator, seed});
}

std::unique_ptr<InputSet> InputPool::Make(const Case& sizes, const DrawnArguments& contents, std::uint64_t seed) const {
  return cache_.Make(sizes, contents, seed);
}

InputSet& InputPool::UnansweredSet(const Case& sizes) {
  if (unanswered_ == nullptr) {
    unanswered_ = cache_.MakeUnanswered({sizes, 0, check_seed()});
    unanswered_->DropAnswer();
  }
  return *unanswered_;
}

}  // namespace evo
