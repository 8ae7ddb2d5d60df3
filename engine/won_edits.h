#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/bottleneck.h"
#include "core/genome.h"
#include "core/rng.h"
#include "core/store.h"
#include "engine/operator_selection.h"

namespace evo {

// Remembers the single edits that made a kernel faster, by the structure of the kernel that they were added to: its template and
// the restructuring edits that it has. What won on one kernel of a structure is worth adding to the others, several at once,
// where a search that adds one edit at a time is as many generations away as there are edits. What won on kernels with another
// bottleneck counts half. A function of the generations learnt: a resumed run decides as the whole run does.
class WonEdits {
 public:
  // Smaller gains are noise more often than not.
  static constexpr double kLeastGain = 0.015;    // of the logarithm of the time
  static constexpr std::size_t kMostEdits = 64;  // of a structure
  static constexpr std::size_t kMostStructures = 32;

  // Generations must come in order, from 0. `selection` knows the parents of the record's candidates, and nothing of the record.
  void Learn(const GenerationRecord& record, const OperatorSelection& selection);

  // Edits that a genome is to get, those with the greatest gains first: none that it has, no second one of an operator that
  // restructures, and one of each operator. On turn 0 all that won, on turn 1 the two best, and on others a part that is drawn.
  // Parameters that they bring have as `initial` the values with which they won.
  std::vector<Edit> EditsFor(const Genome& genome, Bottleneck bottleneck, const OperatorSelection& selection, std::size_t turn,
                             Rng& rng) const;

 private:
  struct Gain {
    double sum = 0;
    int children = 0;
    double mean() const { return sum / children; }
  };
  struct Won {
    Edit edit;
    Gain all;
    std::map<Bottleneck, Gain> on;
    double Expected(Bottleneck bottleneck) const;
  };
  struct Structure {
    std::map<std::string, Won> edits;  // by EditKey
    int latest = 0;                    // generation with the last new one
  };

  void Forget();

  std::map<std::string, Structure> structures_;
};

}  // namespace evo
