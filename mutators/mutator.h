#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/genome.h"
#include "core/rng.h"
#include "kernel_templates/kernel_template.h"
#include "syntax/syntax_tree.h"

namespace evo {

// What a mutator may look at.
struct MutationContext {
  const KernelTemplate& kernel_template;   // as on disk
  const KernelTemplate& rendered;          // the parent's source, understood: its launch lines with all edits in
  const Genome& parent;
  const Genome* second = nullptr;          // another parent of the same template, if there is one
  const SyntaxTree& tree;                  // of the parent's source
};

// A change of the genome: an edit to be added, or a whole new one.
using Mutation = std::variant<Edit, Genome>;

// One way to change a kernel. A pure function of the context and the random stream; the parent is never changed. Finds what it works on by
// the syntax tree, never by the names that a template happens to use.
class Mutator {
 public:
  virtual ~Mutator() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;   // one line
  virtual double weight() const = 0;                  // how often it is tried, relative to the others
  // nullopt if it does not apply here.
  virtual std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const = 0;
};

}  // namespace evo
