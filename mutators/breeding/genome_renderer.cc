#include "mutators/breeding/genome_renderer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/digest.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/source/deciding_parameters.h"
#include "mutators/breeding/edit_application.h"
#include "syntax/preamble.h"

namespace evo {
namespace {

// Keys for the texts after no edit, after the first, after the first two, and so on. They contain only those parameter values
// that matter: to code under #if, and to edits that need a value or bring parameters.
std::vector<std::string> PrefixKeys(const KernelTemplate& kernel_template, const Genome& genome) {
  const nlohmann::json deciding = DecidingParameters(kernel_template.text, genome.parameters);
  std::vector<std::string> keys{Digest(kernel_template.digest + deciding.dump())};
  for (const Edit& edit : genome.edits) {
    std::string step = keys.back() + nlohmann::json(edit).dump();
    const auto add = [&](const std::string& name) {
      const auto value = genome.parameters.find(name);
      if (value != genome.parameters.end()) step += fmt::format(" {}={}", name, value->second);
    };
    for (const auto& [name, needed] : edit.parameters) add(name);
    for (const BroughtParameter& brought : edit.brings) add(brought.name);
    if (!edit.constraints.empty()) step += nlohmann::json(genome.parameters).dump();
    keys.push_back(Digest(step));
  }
  return keys;
}

// The parameters of a genome that has these of its edits only, all of them.
Parameters ParametersOf(const Genome& genome, const std::vector<Edit>& edits) {
  Parameters parameters = genome.parameters;
  if (edits.size() != genome.edits.size()) RemoveBrought(parameters, genome.edits, edits);
  for (const Edit& edit : edits) {
    for (const BroughtParameter& brought : edit.brings) parameters.try_emplace(brought.name, brought.initial);
  }
  return parameters;
}

}  // namespace

SyntaxParser& GenomeRenderer::ParserFor(const std::string& text) {
  const std::string preamble = PreambleOf(text);
  const auto found = std::find_if(parsers_.begin(), parsers_.end(), [&](const auto& p) { return p.first == preamble; });
  if (found != parsers_.end()) {
    parsers_.splice(parsers_.begin(), parsers_, found);
  } else {
    parsers_.emplace_front(preamble, std::make_unique<SyntaxParser>(paths_));
    if (parsers_.size() > memory_.parsers) {
      // A tree without its parser would have no sources that are written out further.
      const std::string& gone = parsers_.back().first;
      std::erase_if(trees_, [&](const auto& tree) { return PreambleOf(tree->text()) == gone; });
      parsers_.pop_back();
    }
  }
  return *parsers_.front().second;
}

std::shared_ptr<const SyntaxTree> GenomeRenderer::TreeOf(const std::string& text) {
  SyntaxParser& parser = ParserFor(text);
  const auto found = std::find_if(trees_.begin(), trees_.end(), [&](const auto& tree) { return tree->text() == text; });
  if (found != trees_.end()) {
    trees_.splice(trees_.begin(), trees_, found);
  } else {
    trees_.push_front(std::make_shared<const SyntaxTree>(parser.Parse(text)));
    if (trees_.size() > memory_.trees) trees_.pop_back();
  }
  return trees_.front();
}

const GenomeRenderer::Applied* GenomeRenderer::Find(const std::string& key) {
  const auto found = applied_by_key_.find(key);
  if (found == applied_by_key_.end()) return nullptr;
  applied_.splice(applied_.begin(), applied_, found->second);
  return &applied_.front().second;
}

void GenomeRenderer::Keep(const std::string& key, Applied applied) {
  if (memory_.texts == 0 || Find(key)) return;
  applied_.emplace_front(key, std::move(applied));
  applied_by_key_[key] = applied_.begin();
  if (applied_.size() <= memory_.texts) return;
  applied_by_key_.erase(applied_.back().first);
  applied_.pop_back();
}

void GenomeRenderer::Know(const KernelTemplate& kernel_template, const Genome& genome, const std::string& source) {
  Keep(PrefixKeys(kernel_template, genome).back(), {source, genome.edits, {}});
}

RenderedGenome GenomeRenderer::Render(const KernelTemplate& kernel_template, const Genome& genome) {
  const std::vector<std::string> keys = PrefixKeys(kernel_template, genome);
  std::size_t done = genome.edits.size();
  while (done > 0 && !Find(keys[done])) --done;
  Applied applied = done > 0 ? *Find(keys[done]) : Applied{kernel_template.text, {}, {}};
  applied.source = RenderParameters(applied.source, ParametersOf(genome, applied.edits));
  for (; done < genome.edits.size(); ++done) {
    const Edit& edit = genome.edits[done];
    AppliedEdit result = ApplyEdit(*TreeOf(applied.source), genome.parameters, edit);
    if (result.dropped.empty()) {
      applied.source = std::move(result.text);
      applied.edits.push_back(edit);
    } else {
      applied.dropped.push_back(std::move(result.dropped));
    }
    Keep(keys[done + 1], applied);
  }
  RenderedGenome rendered{std::move(applied.source), genome, std::move(applied.dropped)};
  rendered.applied.edits = std::move(applied.edits);
  rendered.applied.parameters = ParametersOf(genome, rendered.applied.edits);
  return rendered;
}

}  // namespace evo
