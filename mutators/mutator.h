#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/genome.h"
#include "core/rng.h"
#include "kernel_templates/kernel_template.h"
#include "syntax/syntax_tree.h"

namespace evo {

// What a mutator may look at. All of it outlives the call.
struct MutationContext {
  const KernelTemplate& kernel_template;
  const Genome& genome;                   // the parent
  const SyntaxTree& tree;                 // of the parent's rendered text
  const KernelTemplate& rendered;         // directives of the parent's rendered text
  const Genome* second_parent = nullptr;  // of the same template; null if there is none
};

// Makes a child's genome from a parent's. A pure function of the context and the stream: same inputs, same child.
class Mutator {
 public:
  virtual ~Mutator() = default;
  // As in operator lists and in the history: "unroll_pragma".
  virtual std::string_view name() const = 0;
  // One line: what it does.
  virtual std::string_view description() const = 0;
  // How often it is drawn, relative to the others, before a run has learnt anything. 1 is usual.
  virtual double weight() const { return 1; }
  // Whether it looks at the context's tree, which is empty otherwise: parsing a source takes far longer than drawing a parameter.
  virtual bool reads_source() const { return false; }
  // Whether its children, which parse like all others, mostly compute something else or never end.
  virtual bool mostly_wrong() const { return false; }
  // The child; nullopt if there is nothing for it to do.
  virtual std::optional<Genome> Mutate(const MutationContext& context, Rng& rng) const = 0;
};

// One possible source change by nodes of the context's tree; an Edit is made of the one that is drawn.
struct Proposal {
  struct Change {
    int node = 0;
    Placement placement = Placement::kReplace;
    std::string text;
  };
  std::vector<Change> changes;
  std::vector<int> also_anchored;  // must be as they are for the edit to make sense, such as the body of a replaced loop
  std::vector<LaunchChange> launch;
  Parameters parameters;  // values that it holds for alone
};

// The edit that makes the proposed change wherever its anchors are found.
Edit MakeEdit(const SyntaxTree& tree, std::string_view op, const Proposal& proposal);

// A mutator that appends one edit, drawn from all that are possible.
class SourceMutator : public Mutator {
 public:
  // Every change it could make, in source order.
  virtual std::vector<Proposal> Proposals(const MutationContext& context) const = 0;
  bool reads_source() const final { return true; }
  std::optional<Genome> Mutate(const MutationContext& context, Rng& rng) const final;
};

}  // namespace evo
