#include "mutators/genome_renderer.h"

#include <algorithm>

#include "core/error.h"
#include "kernel_templates/renderer.h"
#include "mutators/edit_application.h"

namespace evo {
namespace {

// A flattened tree is some hundred kilobytes; a population's worth of parents is kept.
constexpr std::size_t kKeptTrees = 64;

}  // namespace

std::shared_ptr<const SyntaxTree> GenomeRenderer::TreeOf(const std::string& source) {
  const auto found = std::find_if(trees_.begin(), trees_.end(), [&](const auto& entry) { return entry.first == source; });
  if (found != trees_.end()) {
    trees_.splice(trees_.begin(), trees_, found);
  } else {
    trees_.emplace_front(source, std::make_shared<const SyntaxTree>(parser_.Parse(source)));
    if (trees_.size() > kKeptTrees) trees_.pop_back();
  }
  return trees_.front().second;
}

RenderedGenome GenomeRenderer::Render(const KernelTemplate& kernel_template, const Genome& genome) {
  RenderedGenome rendered{RenderParameters(kernel_template.text, genome.parameters), {}};
  for (const Edit& edit : genome.edits) {
    auto applied = ApplyEdit(*TreeOf(rendered.source), edit);
    if (auto* text = std::get_if<std::string>(&applied)) rendered.source = std::move(*text);
    else rendered.dropped.push_back(std::get<EditDropped>(applied).reason);
  }
  return rendered;
}

}  // namespace evo
