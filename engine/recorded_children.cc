#include "engine/recorded_children.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace evo {
namespace {

// Times that children are bred in the place of those that are not recorded. Most of what a search breeds was never recorded by
// another search, and breeding costs a thousandth of an evaluation.
constexpr int kFurtherRounds = 24;

}  // namespace

bool RecordedChildren::IsMissing(const Offspring& offspring, std::size_t child) const {
  return recorded_.Find(offspring.digests[child]) == nullptr;
}

std::vector<std::size_t> RecordedChildren::Choose(Offspring& offspring, std::size_t most, const BreedMore& more) {
  std::vector<std::size_t> chosen = choice_.Choose(offspring, most, more);
  const auto missing = std::find_if(chosen.begin(), chosen.end(), [&](std::size_t i) { return IsMissing(offspring, i); });
  if (missing != chosen.end()) {
    if (missing_ == MissingChild::kEndRun) {
      throw Error(
          fmt::format("generation {}: the child at place {}, made by {}, is not recorded: this is not the run that was recorded",
                      offspring.generation, *missing, offspring.children[*missing].op));
    }
    chosen = ChooseRecorded(offspring, chosen.size(), more);
  }
  bred_ += offspring.children.size();
  return chosen;
}

std::vector<std::size_t> RecordedChildren::ChooseRecorded(Offspring& offspring, std::size_t wanted, const BreedMore& more) {
  for (int round = 0;; ++round) {
    unrecorded_ += std::erase_if(offspring.fresh, [&](std::size_t i) { return IsMissing(offspring, i); });
    std::vector<std::size_t> chosen = choice_.Choose(offspring, wanted, more);
    if (chosen.size() == wanted || missing_ == MissingChild::kLeaveOut || round == kFurtherRounds) return chosen;
    if (!more(offspring, wanted - chosen.size())) return chosen;
  }
}

std::string RecordedChildren::Summary() const {
  return fmt::format("replayed; {} of {} children were not recorded", unrecorded_, bred_);
}

}  // namespace evo
