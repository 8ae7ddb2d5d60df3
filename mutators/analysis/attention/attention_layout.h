#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/attention/attention.h"
#include "mutators/analysis/attention/attention_bounds.h"

namespace evo {

// Finds where the elements of an attention's matrices are, and those of its terms and masks.
class AttentionLayout {
 public:
  // The arguments must outlive the object.
  AttentionLayout(const SyntaxTree& tree, const RowIndex& index, AttentionRuns& runs, const AttentionBounds& bounds,
                  const AttentionTraces& traces)
      : tree_(tree), index_(index), runs_(runs), bounds_(bounds), traces_(traces) {}

  // Sets the matrices, and the planes of the term and the mask. False if an index is not understood.
  bool Find(const AttentionRoles& roles, Attention& found);
  const std::string& why() const { return why_; }
  // The elements of the mask, which decide what is computed.
  bool IsOfMask(int symbol) const { return mask_symbols_.contains(symbol); }

 private:
  bool Refuse(std::string why);
  std::string NameOf(int part) const;
  std::string TypeOf(int part) const;
  bool FindMatrix(int part, bool by_row, const Attention& found, Attention::Matrix& matrix);
  bool FindPlane(int parameter, std::vector<AffineForm> forms, Attention::Plane& plane);
  bool FindTerm(const AttentionRoles& roles, Attention& found);
  bool HoldsBelowZero(const AttentionRoles& roles);
  bool FindStatistics(const AttentionRoles& roles, Attention& found);
  bool FindMask(const AttentionRoles& roles, Attention& found);
  bool TakeRow(int part, AffineForm& base, AffineForm& stride);
  AffineForm WithoutWindow(int part, const AffineForm& base, const AffineForm& stride) const;

  const SyntaxTree& tree_;
  const RowIndex& index_;
  AttentionRuns& runs_;
  const AttentionBounds& bounds_;
  const AttentionTraces& traces_;
  std::set<int> mask_symbols_;
  std::string why_;
};

}  // namespace evo
