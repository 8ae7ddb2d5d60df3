#include "engine/neutral_edits.h"

#include <algorithm>

namespace evo {
namespace {

// The edit that a genome has last, its template, and where in the source it is: not which edits were before, nor the path, both of which say
// where the variant comes from. Empty if `op` made no edit.
std::string KeyOf(const Genome& genome, const std::string& op, const std::vector<std::string>& dropped) {
  if (genome.edits.empty() || genome.edits.back().op != op || !dropped.empty()) return {};
  constexpr char kEnd = '\0';
  const Edit& edit = genome.edits.back();
  std::string key = genome.template_digest + kEnd + op;
  const auto add = [&key](const std::string& part) { (key += kEnd) += part; };
  for (const Anchor& anchor : edit.anchors) {
    for (const std::string* part : {&anchor.function, &anchor.kind, &anchor.tokens, &anchor.before, &anchor.after}) add(*part);
  }
  for (const SourceChange& change : edit.source) {
    add(std::to_string(change.anchor) + " " + std::to_string(static_cast<int>(change.placement)));
    add(change.text);
  }
  for (const LaunchChange& change : edit.launch) {
    for (const std::string* part : {&change.kernel, &change.field, &change.text}) add(*part);
  }
  for (const auto& [name, value] : edit.parameters) add(name + "=" + std::to_string(value));
  return key;
}

}  // namespace

void NeutralEdits::Learn(const GenerationRecord& record) {
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    const Candidate& child = record.candidates[i];
    const std::string& program = record.evaluations[i].program_digest;
    if (program.empty()) continue;
    const auto parent = child.parents.empty() ? programs_.end() : programs_.find(child.parents.front());
    const std::string key = KeyOf(child.genome, child.op, child.dropped);
    if (parent != programs_.end() && !key.empty()) changed_[key] |= program != parent->second;
    programs_[child.id] = program;
  }
}

bool NeutralEdits::ChangesNothing(const BredChild& child) const {
  if (!child.genome) return false;
  const auto tried = changed_.find(KeyOf(*child.genome, child.op, child.dropped));
  return tried != changed_.end() && !tried->second;
}

}  // namespace evo
