#pragma once

#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/products/contraction.h"
#include "mutators/mutator.h"
#include "mutators/parallelism/products/contraction_text.h"

namespace evo {

// Divides each sum of a contraction among blocks: one kernel adds up parts of the sums into a workspace, the present one adds up
// the parts in their order and does what follows the sum. Parts begin at multiples of 64 and none is empty.
class SumPartsWriter : private ContractionText {
 public:
  // The arguments must outlive the writer.
  SumPartsWriter(const MutationContext& context, const Contraction& contraction);

  // Why the sums cannot be divided, in words that follow "the kernel ... : "; empty if they can.
  const std::string& refusal() const { return refusal_; }
  // The kernel of the parts, which is a contraction with one thread an element; both kernels; their launch lines.
  const std::string& kernel() const { return kernel_; }
  // The change, indented as the file is, with `length` in the launch lines for the elements of a part. Not to be called after a
  // refusal.
  Proposal Divided(const std::string& length) const;
  // The elements of a part if there shall be as many parts as `blocks` blocks have room for, of which the output takes
  // `grid` with one part. Expressions of the launch line.
  std::string Length(const std::string& blocks, const std::vector<std::string>& grid) const;

 private:
  std::string Refusal();
  std::string Name(int declaration) const { return tree_.node(declaration).name; }
  std::string SumType() const;
  std::vector<int> Used(const std::vector<int>& nodes, bool of_parts) const;
  std::vector<int> OfIndices(bool of_parts) const;
  std::vector<int> Kept() const;
  std::string Indices(bool of_parts) const;
  std::string Guard() const;
  std::string PartOf(const std::string& part) const;
  std::string Parts() const;
  std::string Whole() const;
  std::vector<std::string> Arguments() const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const Contraction& found_;
  const std::string kernel_, workspace_;
  std::string rows_, columns_, depth_;  // as the launch line says them
  std::string refusal_;
};

}  // namespace evo
