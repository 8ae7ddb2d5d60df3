#include "engine/won_edits.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "engine/neutral_edits.h"
#include "engine/structure_key.h"

namespace evo {
namespace {

// Of what won on a kernel with another bottleneck.
constexpr double kElsewhere = 0.5;
// Of each edit, on the turns on which a part of them is drawn.
constexpr double kDrawn = 0.6;
// A failure counts as a child that takes e times as long.
constexpr double kFailed = -1;

// The operator and what it edits, without what stands around it: other edits of a genome have changed that.
std::string PlaceOf(const Edit& edit) {
  std::string place = edit.op;
  for (const Anchor& anchor : edit.anchors) place += '\0' + anchor.function + '\0' + anchor.kind + '\0' + anchor.tokens;
  return place;
}

// The edit with the values of the parameters that it brings in a genome.
Edit AsIn(const Genome& genome, Edit edit) {
  for (BroughtParameter& brought : edit.brings) {
    if (const auto value = genome.parameters.find(brought.name); value != genome.parameters.end())
      brought.initial = value->second;
  }
  return edit;
}

}  // namespace

double WonEdits::Won::Expected(Bottleneck bottleneck) const {
  const auto here = on.find(bottleneck);
  return here != on.end() ? here->second.mean() : kElsewhere * all.mean();
}

void WonEdits::Learn(const GenerationRecord& record, const OperatorSelection& selection) {
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    const Candidate& child = record.candidates[i];
    const Evaluation& evaluation = record.evaluations[i];
    const std::vector<Edit>& edits = child.genome.edits;
    const auto* parent = child.parents.empty() ? nullptr : selection.Known(child.parents.front());
    const bool single = !edits.empty() && edits.back().op == child.op && child.dropped.empty();
    if (!single || parent == nullptr || evaluation.outcome == Outcome::kCancelled) continue;
    const bool neutral = !evaluation.program_digest.empty() && evaluation.program_digest == parent->program;
    const double gain = evaluation.outcome != Outcome::kOk ? kFailed
                        : neutral                          ? 0
                                                           : std::log(parent->score_ns / evaluation.score_ns);
    const std::string key = EditKey(child.genome.template_digest, edits.back());
    const std::span before(edits.data(), edits.size() - 1);
    const std::string structure = StructureKey(child.genome.template_digest, before, selection);
    const auto known = structures_.find(structure);
    const bool is_known = known != structures_.end() && known->second.edits.contains(key);
    if (!is_known && !(gain >= kLeastGain)) continue;
    Structure& of = structures_[structure];
    Won& won = of.edits[key];
    if (!is_known) {
      won.edit = AsIn(child.genome, edits.back());
      of.latest = record.generation;
    }
    for (Gain* sum : {&won.all, &won.on[parent->bottleneck]}) {
      sum->sum += gain;
      ++sum->children;
    }
  }
  Forget();
}

// What gained least, and the structures of which nothing new has won for longest.
void WonEdits::Forget() {
  for (auto& [name, structure] : structures_) {
    while (structure.edits.size() > kMostEdits) {
      structure.edits.erase(std::min_element(structure.edits.begin(), structure.edits.end(), [](const auto& a, const auto& b) {
        return a.second.all.mean() < b.second.all.mean();
      }));
    }
  }
  while (structures_.size() > kMostStructures) {
    structures_.erase(std::min_element(structures_.begin(), structures_.end(),
                                       [](const auto& a, const auto& b) { return a.second.latest < b.second.latest; }));
  }
}

std::vector<Edit> WonEdits::EditsFor(const Genome& genome, Bottleneck bottleneck, const OperatorSelection& selection,
                                     std::size_t turn, Rng& rng) const {
  const auto structure = structures_.find(StructureKey(genome.template_digest, genome.edits, selection));
  if (structure == structures_.end()) return {};
  std::vector<std::pair<double, const Edit*>> won;
  for (const auto& [key, one] : structure->second.edits) {
    if (const double gain = one.Expected(bottleneck); gain >= kLeastGain * kElsewhere) won.emplace_back(gain, &one.edit);
  }
  std::stable_sort(won.begin(), won.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::set<std::string> had, operators;
  for (const Edit& edit : genome.edits) {
    had.insert(PlaceOf(edit));
    if (selection.Restructures(edit.op)) operators.insert(edit.op);
  }
  std::erase_if(won,
                [&](const auto& one) { return had.contains(PlaceOf(*one.second)) || !operators.insert(one.second->op).second; });
  std::vector<Edit> taken;
  for (const auto& [gain, edit] : won) {
    if (turn == 0 || (turn == 1 && taken.size() < 2) || (turn > 1 && rng.Chance(kDrawn))) taken.push_back(*edit);
  }
  if (taken.empty() && !won.empty()) taken.push_back(*won.front().second);
  return taken;
}

}  // namespace evo
