#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "mutators/analysis/expression_kinds.h"
#include "syntax/syntax_tree.h"

namespace evo {

// What runs of a kernel's threads share: what the nodes of its code are, what its constants are, and for how long all these runs
// together may compute.
class ThreadCode {
 public:
  // What a name that stands for a number, or a literal that is no plain integer, means.
  struct Constant {
    bool depends_on_size = false;
    std::optional<std::int64_t> integer;
    std::optional<double> real;  // only of what is no integer
  };

  // The tree outlives the object.
  explicit ThreadCode(const SyntaxTree& tree) : tree_(tree), kinds_(tree) {}

  const ExpressionKinds& kinds() const { return kinds_; }
  // Found once for each node: that reads the whole source, and threads come by many times.
  const Constant& ConstantAt(int literal);
  // To be called for each expression that a thread computes. False if all runs so far have computed more than a breed worker has
  // time for. It counts expressions and not seconds, so that a child depends on its parents alone.
  bool Affords() { return ++steps_ <= kMostSteps; }

 private:
  // Some ten seconds, which a template whose threads work together may take once (IsKnownElsewhere). Tiled products and
  // convolutions of others take 15 to 35 million, one of them more than 40.
  static constexpr std::int64_t kMostSteps = 100'000'000;

  const SyntaxTree& tree_;
  ExpressionKinds kinds_;
  std::unordered_map<int, Constant> constants_;  // by node
  std::int64_t steps_ = 0;
};

}  // namespace evo
