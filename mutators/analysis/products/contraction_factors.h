#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/products/contraction_variables.h"
#include "mutators/analysis/source/block_uniform.h"

namespace evo {

// Splits the product that a contraction adds up into its two factors, and checks what these load.
class ContractionFactors {
 public:
  // The arguments must outlive the object. `found`: has all but its factors and the order of its indices.
  ContractionFactors(const SyntaxTree& tree, const BlockUniform& uniform, const Contraction& found)
      : tree_(tree), uniform_(uniform), found_(found), variables_(tree, found) {}

  // False if the product, or what else is added, has no such factors.
  bool FindIn(int product);
  // Variables of the loop in which both factors are combined.
  const std::vector<int>& combined() const { return combined_; }
  // What depends on the first and on the second index of the grid.
  const ContractionFactor& of_first() const { return of_first_; }
  const ContractionFactor& of_second() const { return of_second_; }
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  std::string Quoted(int node) const;
  bool Split(int expression);
  bool SplitAny(int expression);
  bool IsOfLoop(int variable) const;
  std::optional<double> AtZero(int expression) const;
  bool FindCombined();
  bool TakeParts();
  bool CheckFactor(ContractionFactor& factor, const ElementGrid::Index& index);
  bool IsAddressOnly(int access) const;
  bool CheckLoad(int access, const ElementGrid::Index& index, ContractionFactor& factor);

  const SyntaxTree& tree_;
  const BlockUniform& uniform_;
  const Contraction& found_;
  ContractionVariables variables_;
  int product_ = -1;
  std::vector<int> parts_;  // of the product, each of which depends on one index at most
  ContractionFactor of_first_, of_second_;
  std::vector<int> combined_;
  std::string why_;
};

}  // namespace evo
