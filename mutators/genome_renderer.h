#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/genome.h"
#include "kernel_templates/kernel_template.h"
#include "syntax/syntax_tree.h"

namespace evo {

struct RenderedGenome {
  std::string source;
  std::vector<std::string> dropped;   // edits that did not apply, one line each
};

// Makes sources of genomes: parameter values first, then the edits one after another, each on the tree of what the ones before it left.
// Keeps the trees of the last few sources, so that many children of one parent cost one parse.
class GenomeRenderer {
 public:
  explicit GenomeRenderer(SyntaxPaths paths) : parser_(std::move(paths)) {}

  // Throws Error for a parameter that the template does not declare.
  RenderedGenome Render(const KernelTemplate& kernel_template, const Genome& genome);
  // The tree of a source. Valid until the cache is full of later ones.
  std::shared_ptr<const SyntaxTree> TreeOf(const std::string& source);

 private:
  SyntaxParser parser_;
  std::list<std::pair<std::string, std::shared_ptr<const SyntaxTree>>> trees_;   // latest first
};

}  // namespace evo
