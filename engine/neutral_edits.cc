#include "engine/neutral_edits.h"

#include <algorithm>

namespace evo {
namespace {

// The key of the last edit of a genome. Empty if `op` made no edit.
std::string LastEdit(const Genome& genome, const std::string& op, const std::vector<std::string>& dropped) {
  const bool made = !genome.edits.empty() && genome.edits.back().op == op && dropped.empty();
  return made ? EditKey(genome.template_digest, genome.edits.back()) : "";
}

std::string SettingOf(const Genome& genome) {
  std::string setting;
  for (const auto& [name, value] : genome.parameters) setting += name + "=" + std::to_string(value) + "\n";
  return setting;
}

}  // namespace

std::string EditKey(const std::string& template_digest, const Edit& edit) {
  constexpr char kEnd = '\0';
  std::string key = template_digest + kEnd + edit.op;
  const auto add = [&key](const std::string& part) { (key += kEnd) += part; };
  for (const Anchor& anchor : edit.anchors) {
    for (const std::string* part :
         {&anchor.function, &anchor.kind, &anchor.tokens, &anchor.parent, &anchor.before, &anchor.after})
      add(*part);
  }
  for (const SourceChange& change : edit.source) {
    add(std::to_string(change.anchor) + " " + std::to_string(static_cast<int>(change.placement)));
    add(change.text);
  }
  for (const LaunchChange& change : edit.launch) {
    for (const std::string* part : {&change.kernel, &change.field, &change.text}) add(*part);
  }
  for (const auto& [name, value] : edit.parameters) add(name + "=" + std::to_string(value));
  for (const BroughtParameter& brought : edit.brings) add(brought.name);
  return key;
}

void NeutralEdits::Learn(const GenerationRecord& record) {
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    const Candidate& child = record.candidates[i];
    const std::string& program = record.evaluations[i].program_digest;
    if (program.empty()) continue;
    const auto parent = child.parents.empty() ? programs_.end() : programs_.find(child.parents.front());
    const std::string edit = LastEdit(child.genome, child.op, child.dropped);
    if (parent != programs_.end() && !edit.empty()) {
      Tried& tried = tried_[edit];
      tried.changed |= program != parent->second;
      tried.settings.insert(SettingOf(child.genome));
    }
    programs_[child.id] = program;
  }
}

bool NeutralEdits::ChangesNothing(const BredChild& child) const {
  if (!child.genome) return false;
  const auto found = tried_.find(LastEdit(*child.genome, child.op, child.dropped));
  if (found == tried_.end() || found->second.changed) return false;
  const std::set<std::string>& settings = found->second.settings;
  return settings.size() >= kSettings || settings.contains(SettingOf(*child.genome));
}

}  // namespace evo
