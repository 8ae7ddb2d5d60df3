#include "mutators/genome_renderer.h"

#include <algorithm>

#include "kernel_templates/renderer.h"
#include "mutators/edit_application.h"
#include "syntax/preamble.h"

namespace evo {
namespace {

// A parser holds 13 to 38 MiB and is good for one set of includes; a task has few.
constexpr std::size_t kParsers = 4;
// A generation's parents and what is on the way to their children; a flattened tree is under a megabyte.
constexpr std::size_t kTrees = 64;

}  // namespace

GenomeRenderer::GenomeRenderer(SyntaxPaths paths) : paths_(std::move(paths)) {}

SyntaxParser& GenomeRenderer::ParserFor(const std::string& text) {
  const std::string preamble = PreambleOf(text);
  const auto found = std::find_if(parsers_.begin(), parsers_.end(), [&](const auto& p) { return p.first == preamble; });
  if (found != parsers_.end()) {
    parsers_.splice(parsers_.begin(), parsers_, found);
  } else {
    parsers_.emplace_front(preamble, std::make_unique<SyntaxParser>(paths_));
    if (parsers_.size() > kParsers) parsers_.pop_back();
  }
  return *parsers_.front().second;
}

std::shared_ptr<const SyntaxTree> GenomeRenderer::TreeOf(const std::string& text) {
  const auto found = std::find_if(trees_.begin(), trees_.end(), [&](const auto& tree) { return tree->text() == text; });
  if (found != trees_.end()) {
    trees_.splice(trees_.begin(), trees_, found);
  } else {
    trees_.push_front(std::make_shared<const SyntaxTree>(ParserFor(text).Parse(text)));
    if (trees_.size() > kTrees) trees_.pop_back();
  }
  return trees_.front();
}

RenderedGenome GenomeRenderer::Render(const KernelTemplate& kernel_template, const Genome& genome) {
  RenderedGenome rendered;
  rendered.source = RenderParameters(kernel_template.text, genome.parameters);
  rendered.applied = genome;
  rendered.applied.edits.clear();
  for (const Edit& edit : genome.edits) {
    AppliedEdit result = ApplyEdit(*TreeOf(rendered.source), genome.parameters, edit);
    if (!result.dropped.empty()) {
      rendered.dropped.push_back(std::move(result.dropped));
      continue;
    }
    rendered.source = std::move(result.text);
    rendered.applied.edits.push_back(edit);
  }
  return rendered;
}

}  // namespace evo
