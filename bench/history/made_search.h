#pragma once

#include <deque>
#include <string>
#include <vector>

#include "core/rng.h"
#include "core/store.h"

namespace evo {

// A search that never ran, of the shape that searches on a GPU have: children of a population, a third of them with an edit that
// nobody made before, half of them ok, most of those pruned after a few samples, the others failed with messages and logs of
// which many repeat. Deterministic.
class MadeSearch {
 public:
  MadeSearch(std::uint64_t seed, int children);

  RunRecord Run() const;
  GenerationRecord Next();
  // A check that the fastest so far passed; its candidate.
  std::pair<CandidateId, ChampionCheck> Champion();

 private:
  Genome Child(std::string& op, std::vector<CandidateId>& parents);
  Edit NewEdit();
  Evaluation Evaluate(const Genome& genome);
  Evaluation Failed();
  Evaluation Timed();

  struct Member {
    CandidateId id = 0;
    Genome genome;
    double ns = 0;
  };

  Rng rng_;
  int children_;
  int generation_ = 0;
  CandidateId last_ = 0;
  std::deque<Member> population_;
  std::deque<Edit> edits_;  // made lately
  double best_ns_ = 2.0e6;
  CandidateId best_ = 0;
};

}  // namespace evo
