#pragma once

#include <map>
#include <set>
#include <string>

#include "core/breeder.h"
#include "core/candidate.h"
#include "core/store.h"

namespace evo {

// Remembers which edits left the compiled program as it was, so that the compiler is not asked again. The same edit at the same
// place, by function, kind, tokens and neighbours, does the same whatever edits were before it (docs/adr/0010-neutral-edits.md).
// What a parameter's value cuts out of the source may be there at another: an edit counts as neutral at the settings where it
// was, and at all others from kSettings of them on. A function of the generations it was given: a run that is resumed decides as
// the whole one does.
class NeutralEdits {
 public:
  static constexpr std::size_t kSettings = 2;

  // Generations must come in order, from 0: parents are looked up in those before.
  void Learn(const GenerationRecord& record);
  // Whether the edit that made this child counts as neutral at the child's setting. False for what is no single edit.
  bool ChangesNothing(const BredChild& child) const;

 private:
  struct Tried {
    bool changed = false;            // a program, at least once
    std::set<std::string> settings;  // of the parameters
  };

  std::map<CandidateId, std::string> programs_;  // digests, of those that may be parents
  std::map<std::string, Tried> tried_;           // by edit and template
};

}  // namespace evo
