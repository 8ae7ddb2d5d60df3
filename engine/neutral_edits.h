#pragma once

#include <map>
#include <string>

#include "core/breeder.h"
#include "core/candidate.h"
#include "core/store.h"

namespace evo {

// Remembers which edits left the compiled program as it was, so that the compiler is not asked again. The same edit in another variant of the template, at
// the same place by function, kind, tokens and neighbours, nearly always does the same: over four recorded runs 356 of 360 that had changed nothing
// before changed nothing again (docs/results.md). A function of the generations it was given: a run that is resumed decides as the whole one does.
class NeutralEdits {
 public:
  // Generations must come in order, from 0: parents are looked up in those before.
  void Learn(const GenerationRecord& record);

  // Whether the edit that made this child has been tried before, and never changed a program. False for what is no single edit.
  bool ChangesNothing(const BredChild& child) const;

 private:
  std::map<CandidateId, std::string> programs_;   // digests, of those that may be parents
  std::map<std::string, bool> changed_;           // by edit and template: whether it changed a program at least once
};

}  // namespace evo
