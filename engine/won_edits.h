#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

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

  // The genome with more edits, those with the greatest gains first and one of each operator at most: on turn 0 all that won, on
  // turn 1 the first two, and on others a part that is drawn. nullopt if there are none. Some may turn out not to apply.
  std::optional<Genome> AddTo(const Genome& genome, Bottleneck bottleneck, const OperatorSelection& selection, std::size_t turn,
                              Rng& rng) const;

 private:
  struct Gain {
    double sum = 0;
    int children = 0;
    double mean() const { return sum / children; }
  };
  struct Won {
    Edit edit;
    Parameters brought;  // values of the parameters that it brings
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
