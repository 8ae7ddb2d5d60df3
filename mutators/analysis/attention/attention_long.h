#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/attention/attention.h"
#include "mutators/analysis/attention/attention_bounds.h"

namespace evo {

// Runs rows with more keys than any number of the code, so that a window of keys or the like is seen.
class AttentionLong {
 public:
  // The arguments must outlive the object.
  AttentionLong(const SyntaxTree& tree, AttentionRuns& runs, AttentionBounds& bounds, const AttentionTraces& traces)
      : tree_(tree), runs_(runs), bounds_(bounds), traces_(traces) {}

  // Whether they compute what the roles say. Sets the window of causal rows.
  bool Find(AttentionRoles roles, Attention& found);
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  std::optional<double> ScaleOfAllLengths(const AttentionRoles& roles) const;
  bool RunLength(AttentionRoles roles, std::int64_t length, Attention& found);
  bool FindWindow(const AttentionRoles& roles, std::int64_t row, std::int64_t length, std::int64_t window, Attention& found);
  bool KeepsLongWindow(const AttentionRoles& roles, const std::string& size, std::int64_t length, const Attention& found);
  bool KeepsWithoutWindow(const AttentionRoles& roles, const std::string& size, const Attention& found);

  const SyntaxTree& tree_;
  AttentionRuns& runs_;
  AttentionBounds& bounds_;
  const AttentionTraces& traces_;
  std::set<std::string> driving_;
  std::string why_;
};

}  // namespace evo
