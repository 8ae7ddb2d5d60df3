#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/genome.h"
#include "kernel_templates/kernel_template.h"
#include "syntax/syntax_tree.h"

namespace evo {

// A genome rendered to source. `applied` is the genome without the dropped edits; it renders to the same source.
struct RenderedGenome {
  std::string source;
  Genome applied;
  std::vector<std::string> dropped;  // one line each
};

// Renders genomes to sources. Parameter values come first, so that anchors cannot name code that they remove; then the edits one
// after another, each located in the tree of the text so far. Not thread-safe. It uses libclang, which may crash, so it belongs
// in worker processes only.
class GenomeRenderer {
 public:
  // How many are remembered, the last ones used.
  struct Memory {
    std::size_t texts = 512;  // that were rendered: every prefix of the edit lists of a population; each has some 10 KB
    std::size_t trees = 64;   // those of a generation's parents and of the texts between them and their children; each is below a
                              // megabyte, and what was found out about it comes on top
    std::size_t parsers = 4;  // each holds 13 to 38 MiB and serves one set of includes; a task has few of these
  };
  explicit GenomeRenderer(SyntaxPaths paths) : GenomeRenderer(std::move(paths), Memory()) {}
  GenomeRenderer(SyntaxPaths paths, Memory memory) : paths_(std::move(paths)), memory_(memory) {}

  // Throws Error if a parameter is not one of the template's or has a value that it does not declare.
  RenderedGenome Render(const KernelTemplate& kernel_template, const Genome& genome);
  // Remembers a source that the caller has rendered before. Precondition: `source` is the rendered genome, and all its edits
  // apply.
  void Know(const KernelTemplate& kernel_template, const Genome& genome, const std::string& source);
  // The tree of a text. Recent trees are kept, so that many children of one parent cost one reparse.
  std::shared_ptr<const SyntaxTree> TreeOf(const std::string& text);

 private:
  // A template after the first edits of a genome. The parameter values may be other ones.
  struct Applied {
    std::string source;
    std::vector<Edit> edits;
    std::vector<std::string> dropped;
  };

  SyntaxParser& ParserFor(const std::string& text);
  const Applied* Find(const std::string& key);
  void Keep(const std::string& key, Applied applied);

  SyntaxPaths paths_;
  Memory memory_;
  std::list<std::pair<std::string, std::unique_ptr<SyntaxParser>>> parsers_;  // by preamble, most recent first
  std::list<std::shared_ptr<const SyntaxTree>> trees_;                        // most recent first
  std::list<std::pair<std::string, Applied>> applied_;                        // most recent first
  std::unordered_map<std::string, std::list<std::pair<std::string, Applied>>::iterator> applied_by_key_;
};

}  // namespace evo
