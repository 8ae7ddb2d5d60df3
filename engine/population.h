#pragma once

#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"

namespace evo {

// A candidate that passed the gate, with the measurements that selection uses.
struct Individual {
  Candidate candidate;
  double score_ns = kNoValue;
  double compile_ms = 0;  // 0: not known
};

// The survivors of a run. All of them have the outcome ok.
class Population {
 public:
  virtual ~Population() = default;
  // Adds the results of one generation and decides which candidates survive. evaluations[i] belongs to candidates[i].
  virtual void Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) = 0;
  // Fastest first; ties by id, so that the order never depends on anything else.
  virtual const std::vector<Individual>& members() const = 0;
  // The members that may be parents of the child at this place of the next generation, fastest first. Empty only if members() is.
  virtual const std::vector<Individual>& Mates(std::size_t index) const {
    static_cast<void>(index);
    return members();
  }
  // Whether the child at this place only gets other parameters.
  virtual bool TunesParameters(std::size_t index) const {
    static_cast<void>(index);
    return false;
  }
  // How many such children of a generation are evaluated whatever is expected of them.
  virtual std::size_t TuningChildren() const { return 0; }
  // Number of draws, the fastest of which becomes the first parent. Two is the mildest pressure that still prefers fast members;
  // survival is elitist already.
  virtual int TournamentSize() const { return 2; }
};

// Fastest first; ties by id.
bool Precedes(const Individual& a, const Individual& b);

// The `capacity` fastest candidates so far. Of candidates with the same program and launch only the first is considered, even if
// it did not survive: copies would crowd out everything else.
class ElitistPopulation : public Population {
 public:
  explicit ElitistPopulation(std::size_t capacity) : capacity_(capacity) {}
  void Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) override;
  const std::vector<Individual>& members() const override { return members_; }

 private:
  std::size_t capacity_;
  std::vector<Individual> members_;
  std::set<std::string> programs_;  // of all candidates that were ever ok
};

// Random search with the operators of evolution: all candidates that were ever ok are parents, the slow as often as the fast.
// Equal programs count once.
class RandomPopulation : public ElitistPopulation {
 public:
  RandomPopulation() : ElitistPopulation(std::numeric_limits<std::size_t>::max()) {}
  int TournamentSize() const override { return 1; }
};

}  // namespace evo
