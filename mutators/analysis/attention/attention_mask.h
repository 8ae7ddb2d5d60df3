#pragma once

#include <map>
#include <string>
#include <vector>

#include "mutators/analysis/attention/attention.h"
#include "mutators/analysis/attention/attention_runs.h"

namespace evo {

// Finds what a mask of keys does: which of its numbers hide a key, and what becomes of a row whose keys are all hidden.
class AttentionMask {
 public:
  // The arguments must outlive the object.
  AttentionMask(const SyntaxTree& tree, AttentionRuns& runs) : tree_(tree), runs_(runs) {}

  // Sets the score of hidden keys, and what a row without weights is. False if the mask is not understood.
  bool Find(const AttentionRoles& roles, Attention& found);
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  bool RunPatterns(const AttentionRoles& roles, std::size_t number, std::int64_t row);
  bool RunHidden(const AttentionRoles& roles, Attention& found);
  bool FindScore(const AttentionRoles& roles, Attention& found);
  bool HasScore(const AttentionRoles& roles, double score);
  std::vector<std::int64_t> IndicesOf(const AttentionRoles& roles, std::size_t number, std::int64_t row);

  const SyntaxTree& tree_;
  AttentionRuns& runs_;
  std::string why_;
};

}  // namespace evo
