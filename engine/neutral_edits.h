#pragma once

#include <map>
#include <set>
#include <string>

#include "core/breeder.h"
#include "core/candidate.h"
#include "core/store.h"

namespace evo {

// A key of an edit: its template, the edit and its place in the source. Edits before it, and the path and the ordinal of its
// anchors, are left out: they depend on the variant that was edited.
std::string EditKey(const std::string& template_digest, const Edit& edit);

// Keeps the edits that left the compiled program unchanged, so that they are not compiled again. The same edit at the same place,
// which is its function, kind, tokens and neighbours, has the same effect whatever edits came before it
// (docs/adr/0010-neutral-edits.md). An edit is neutral at the parameter settings where it was tried. At other settings the source
// may have code that a directive cut out there, so an edit counts as neutral everywhere only after kSettings settings. A function
// of the generations learnt: a resumed run decides as the whole run does.
class NeutralEdits {
 public:
  static constexpr std::size_t kSettings = 2;

  // Generations must come in order, from 0: parents are looked up in earlier ones.
  void Learn(const GenerationRecord& record);
  // Whether the edit that made this child counts as neutral at the child's setting. False if not a single edit made the child.
  bool ChangesNothing(const BredChild& child) const;

 private:
  struct Tried {
    bool changed = false;            // changed a program at least once
    std::set<std::string> settings;  // parameter settings at which it was tried
  };

  std::map<CandidateId, std::string> programs_;  // program digests of candidates that may be parents
  std::map<std::string, Tried> tried_;           // by edit and template
};

}  // namespace evo
