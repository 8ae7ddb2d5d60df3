#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/store.h"
#include "engine/child_ranker.h"
#include "engine/offspring.h"

namespace evo {

// Chooses which of the new children of a generation are evaluated.
class ChildChoice {
 public:
  // Breeds so many more children into the offspring. False, and nothing bred, if the run was interrupted.
  using BreedMore = std::function<bool(Offspring&, std::size_t count)>;

  virtual ~ChildChoice() = default;
  // How many children to breed so that `wanted` can be chosen. Called once a generation, before its parents are selected.
  virtual int ToBreed(int wanted) = 0;
  // At most `most` of the indices in offspring.fresh, ascending.
  virtual std::vector<std::size_t> Choose(Offspring& offspring, std::size_t most, const BreedMore& more) = 0;
  // These are being evaluated and will be learnt.
  virtual void Await(const std::vector<Candidate>& /*candidates*/) {}
  // Generations must come in order, from 0.
  virtual void Learn(const GenerationRecord& record) = 0;
  // What the message at the end of the run says of the choices; empty: nothing.
  virtual std::string Summary() const { return {}; }
};

// Chooses the children that were bred first.
class FirstChildren : public ChildChoice {
 public:
  int ToBreed(int wanted) override { return wanted; }
  std::vector<std::size_t> Choose(Offspring& offspring, std::size_t most, const BreedMore& more) override;
  void Learn(const GenerationRecord&) override {}
};

// Chooses the most promising children, as far as the ranker trusts itself.
class RankedChildren : public ChildChoice {
 public:
  // `ranker` outlives this.
  explicit RankedChildren(ChildRanker& ranker) : ranker_(ranker) {}
  int ToBreed(int wanted) override;
  std::vector<std::size_t> Choose(Offspring& offspring, std::size_t most, const BreedMore& more) override;
  void Await(const std::vector<Candidate>& candidates) override;
  void Learn(const GenerationRecord& record) override;

 private:
  ChildRanker& ranker_;
};

// RankedChildren, or FirstChildren if `ranker` is null.
std::unique_ptr<ChildChoice> MakeChoice(ChildRanker* ranker);

}  // namespace evo
