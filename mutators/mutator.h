#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/genome.h"
#include "core/promise.h"
#include "core/rng.h"
#include "kernel_templates/kernel_template.h"
#include "syntax/syntax_tree.h"

namespace evo {

// Everything that a mutator may look at. It outlives the call.
struct MutationContext {
  const KernelTemplate& kernel_template;
  const Genome& genome;                   // the parent
  const SyntaxTree& tree;                 // of the parent's rendered text
  const KernelTemplate& rendered;         // parameters and launch lines of the parent's rendered text
  const Genome* second_parent = nullptr;  // of the same template; null if there is none
  // Whether another template of the run is a matrix product as a plain nest. What is to be made of one is made of that template.
  bool product_elsewhere = false;
};

// Makes a child's genome from a parent's. A pure function of the context and the random stream: same inputs, same child.
class Mutator {
 public:
  virtual ~Mutator() = default;
  // The operator's name in options and in the history, such as "unroll_pragma". Databases store it, so it never changes.
  virtual std::string_view name() const = 0;
  // What holds of every child that it can make, given the same of the parent. There is no default: what is promised must follow
  // from the conditions in the mutator's code (docs/writing_a_mutator.md).
  virtual Promise promise() const = 0;
  // What it does, as one line for users.
  virtual std::string_view description() const = 0;
  // How often it is drawn relative to the others at the start of a run, before kMostlyWrongShare. 1 is usual.
  virtual double weight() const { return 1; }
  // Whether it uses the context's tree. For other mutators the tree is empty, since parsing takes far longer than drawing a
  // parameter.
  virtual bool reads_source() const { return false; }
  // What all its children have to be compiled for, as `evo:requires` says it ("sm_90a"); empty if that depends on the parent.
  virtual std::string_view required_arch() const { return {}; }
  // Whether most of its children, although they parse, compute something else or never end.
  virtual bool mostly_wrong() const { return false; }
  // The child; nullopt if there is nothing that the mutator can change.
  virtual std::optional<Genome> Mutate(const MutationContext& context, Rng& rng) const = 0;
};

// One change that a mutator could make, in terms of nodes of the context's tree. The proposal that is drawn becomes an Edit.
struct Proposal {
  struct Change {
    int node = 0;
    Placement placement = Placement::kReplace;
    std::string text;
  };
  std::vector<Change> changes;
  std::vector<int> also_anchored;  // nodes that the edit relies on, such as the body of a replaced loop
  std::vector<LaunchChange> launch;
  Parameters parameters;  // the only values for which the change is valid
  // Parameters that the changes name and that become the child's (UnusedName gives names), and constraints on them.
  std::vector<BroughtParameter> brings;
  std::vector<std::string> constraints;
  bool indented = false;  // whether the texts are indented by the file's unit; else by two spaces
};

// The edit that makes the proposed change in any text in which its anchors are found.
Edit MakeEdit(const SyntaxTree& tree, std::string_view op, const Proposal& proposal);

// A mutator that appends one edit to the parent's, drawn from all its proposals.
class SourceMutator : public Mutator {
 public:
  // Every change that it could make, in source order.
  virtual std::vector<Proposal> Proposals(const MutationContext& context) const = 0;
  // Why it leaves a kernel as it is that it might be expected to change, one line each; empty where nobody would ask.
  virtual std::vector<std::string> Refusals(const MutationContext& context) const;
  // The edit of a proposal. If its promise rests on all code of a function, it needs those values of the parameters that decide
  // what `#if` leaves of the functions that it changes: with others there may be statements that the mutator has not seen.
  Edit EditOf(const MutationContext& context, const Proposal& proposal) const;
  bool reads_source() const final { return true; }
  std::optional<Genome> Mutate(const MutationContext& context, Rng& rng) const final;

 private:
  // False for hints to the compiler, which are right whatever the code, and where nothing is promised.
  virtual bool rests_on_code() const { return promise() != Promise::kUnproven; }
};

}  // namespace evo
