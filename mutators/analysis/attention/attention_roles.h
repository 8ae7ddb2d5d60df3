#pragma once

#include <string>

#include "mutators/analysis/attention/attention_check.h"
#include "mutators/analysis/attention/attention_runs.h"

namespace evo {

// Finds which buffers of a kernel are the matrices of an attention, by one row.
class AttentionRoleFinder {
 public:
  // The runs must outlive the object.
  explicit AttentionRoleFinder(AttentionRuns& runs) : runs_(runs) {}

  // Also tells the runs which buffer holds several matrices, and that all keys are to be seen. False if there are no such roles.
  bool Find(AttentionRoles& roles);
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  bool RolesOf(const ThreadTrace& trace, int mask, bool shows_zero, AttentionRoles& roles);

  AttentionRuns& runs_;
  std::string why_;
};

}  // namespace evo
