#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "core/breeder.h"
#include "kernel_templates/kernel_template.h"
#include "mutators/breeding/genome_renderer.h"
#include "mutators/mutator_set.h"

namespace evo {

// What a mutator that edits sources could do to a template at its defaults.
struct MutatorPlaces {
  std::string mutator;
  std::size_t proposals = 0;
  std::vector<std::string> refusals;  // SourceMutator::Refusals
};

// Makes children in a breed worker. A child is a pure function of the templates and the request; state between requests only
// saves time. Not thread-safe.
class BreedingStation {
 public:
  // Throws Error if the parser cannot work.
  BreedingStation(std::vector<KernelTemplate> templates, SyntaxPaths paths);

  // Draws operators by weight, without replacement, until one makes a child whose source differs from the parent's. Operators
  // guarantee that it parses. Without operators, returns the first parent unchanged. A faulty request gives a child with a
  // `failure`, never an exception.
  BredChild Breed(const BreedRequest& request);
  // Of every source mutator, by name, or of this one alone. Throws Error if there is no such template.
  std::vector<MutatorPlaces> PlacesIn(const std::string& template_name, const std::string& only = "");
  // KernelKind of a template at its default parameters. Throws Error if there is no such template.
  std::string KindOf(const std::string& template_name);

 private:
  void AtDefaults(const std::string& template_name, const std::function<void(const MutationContext&)>& look);
  BredChild BreedOrThrow(const BreedRequest& request);
  const KernelTemplate* TemplateOf(const Genome& genome) const;
  // The directives of a rendered parent; valid until the next call.
  const KernelTemplate& RenderedOf(const std::string& name, const std::string& source);
  // Whether a template at its defaults is a matrix product as a plain nest.
  bool IsProduct(const KernelTemplate& kernel_template);
  bool HasProductBeside(const KernelTemplate& kernel_template);
  void AddAlike(RenderedGenome& parent, const Edit& edit);
  bool TryOperator(const std::string& op, const BreedRequest& request, const RenderedGenome& parent, Rng& rng, BredChild& child);

  std::vector<KernelTemplate> templates_;
  MutatorSet mutators_;
  GenomeRenderer renderer_;
  std::list<KernelTemplate> rendered_;    // directives of the last parents, most recent first
  std::map<std::string, bool> products_;  // IsProduct of templates that were asked for, by name
  std::shared_ptr<const SyntaxTree> no_tree_ = std::make_shared<const SyntaxTree>();
};

}  // namespace evo
