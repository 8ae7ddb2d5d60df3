#pragma once

#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"

namespace evo {

// A candidate that passed, with what selection needs to know of it.
struct Individual {
  Candidate candidate;
  double score_ns = kNoValue;
  double compile_ms = 0;  // that it took; 0: not known
};

// The survivors of a run. Only candidates whose outcome is ok are ever in it.
class Population {
 public:
  virtual ~Population() = default;
  // Takes one generation's results. evaluations[i] belongs to candidates[i].
  virtual void Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) = 0;
  // Fastest first; ties by id, so that the order never depends on anything else.
  virtual const std::vector<Individual>& members() const = 0;
  // Among whom the child at this place of the next generation finds its parents, fastest first; empty only if members() is.
  virtual const std::vector<Individual>& Mates(std::size_t index) const {
    static_cast<void>(index);
    return members();
  }
  // Draws of which the fastest becomes first parent. Two: the mildest pressure that still prefers the fast; survival is already
  // elitist.
  virtual int TournamentSize() const { return 2; }
};

// Fastest first; ties by id.
bool Precedes(const Individual& a, const Individual& b);

// The `capacity` fastest of all so far. Of candidates that are the same program, launched in the same way, only the first counts,
// even when it is no longer among them: copies would crowd out everything else.
class ElitistPopulation : public Population {
 public:
  explicit ElitistPopulation(std::size_t capacity) : capacity_(capacity) {}
  void Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) override;
  const std::vector<Individual>& members() const override { return members_; }

 private:
  std::size_t capacity_;
  std::vector<Individual> members_;
  std::set<std::string> programs_;  // of everything that was ever ok
};

// Random search with the operators of evolution: everything that was ever ok breeds, the slow as often as the fast. Equal
// programs count once.
class RandomPopulation : public ElitistPopulation {
 public:
  RandomPopulation() : ElitistPopulation(std::numeric_limits<std::size_t>::max()) {}
  int TournamentSize() const override { return 1; }
};

}  // namespace evo
