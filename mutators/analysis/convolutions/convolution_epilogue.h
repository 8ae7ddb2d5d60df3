#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/convolutions/convolution.h"
#include "mutators/analysis/convolutions/convolution_check.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "syntax/syntax_tree.h"

namespace evo {

// What a thread had for integers when it had its sum: variables by declaration, threadIdx and so on by symbol.
struct ConvolutionObserved {
  ConvolutionShape shape;
  std::int64_t element = 0;
  std::map<int, std::int64_t> integers;
};

// Finds what a kernel's text needs that makes an element of a sum, so that it can stand in another kernel.
class ConvolutionEpilogue {
 public:
  // The arguments must outlive the object. `written`: what the kernel writes.
  ConvolutionEpilogue(const SyntaxTree& tree, const ConvolutionParts& parts, const std::vector<ConvolutionObserved>& observed,
                      const std::set<int>& written);
  // Sets `kept`, `epilogue`, `indices` and `stored`. False if the text needs what is not known.
  bool AddTo(Convolution& found);
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  bool Resolve(int node);
  bool ResolveOperation(int operation);
  bool Keep(int variable);
  bool IsOfSizes(int variable) const;
  // What a thread had.
  using ObservedValue = std::function<std::optional<std::int64_t>(const ConvolutionObserved&)>;
  std::optional<Convolution::Role> RoleWith(const ObservedValue& value_in) const;
  std::optional<Convolution::Role> RoleOf(int symbol) const;
  std::optional<Convolution::Role> RoleOfExpression(int expression) const;
  void DropUnused();

  const SyntaxTree& tree_;
  const ConvolutionParts& parts_;
  const std::vector<ConvolutionObserved>& observed_;
  const std::set<int>& written_;
  std::vector<int> statements_;
  std::vector<Convolution::Kept> kept_;
  std::set<int> known_;  // declarations of kept_
  std::vector<std::pair<int, Convolution::Role>> indices_;
  std::string why_;
};

}  // namespace evo
