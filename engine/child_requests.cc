#include "engine/child_requests.h"

#include <algorithm>
#include <utility>

namespace evo {
namespace {

// One in so many children has several edits at once that won on others. One edit at a time, a kernel that needs five small
// changes is ten generations away, since each generation is bred from what was known two before.
constexpr int kCombinedOneIn = 3;
// Of these, one in so many gets other parameters, too: what edits leave of registers and shared memory may allow for others.
constexpr std::size_t kAlsoTunedOneIn = 4;
// Separates the random stream of combinations from those of children and parents.
constexpr std::uint64_t kCombinationStream = 0x636f6d62696e6500ULL;
constexpr int kCombinationTournament = 3;
// One in so many children begins at another structure while the search stands still.
constexpr int kElsewhereOneIn = 4;
constexpr std::uint64_t kElsewhereStream = 0x656c736577686572ULL;  // separates their random numbers
// So many settings of each other structure are tried at the start, if it takes at most this many times as long as the fastest.
// That is one in so many children at most.
constexpr std::size_t kSettings = 3;
constexpr int kTunedOneIn = 4;
constexpr double kWorthTuning = 4;
// Later, one in so many children is another setting of a structure that was tried in few. A structure that came with a bad
// setting is slower than one that came with a good one, and would never get the children that show what it is worth.
constexpr int kUntunedOneIn = 4;
// An operator that made one of so many fastest kernels from a template is asked so often for another form of it, if the kernel
// is worth tuning.
constexpr std::size_t kOtherForms = 4, kAskedAgain = 2;
// What is left of the weight of an operator that has divided the parent's work already.
constexpr double kRepeated = 0.1;
// So many of the templates at their defaults, the fastest ones, are restructured first.
constexpr std::size_t kRestructured = 4;

using Weights = std::vector<std::pair<std::string, double>>;

Weights OnlyParameters(const Weights& weights) {
  Weights some;
  for (const auto& [op, weight] : weights) {
    if (SetsParameters(op) && weight > 0) some.emplace_back(op, weight);
  }
  return some;
}

// All of them if a run draws none of those.
Weights OfParameters(const Weights& weights) {
  Weights some = OnlyParameters(weights);
  return some.empty() ? weights : some;
}

bool Has(const Genome& genome, const std::string& op) {
  return std::any_of(genome.edits.begin(), genome.edits.end(), [&](const Edit& edit) { return edit.op == op; });
}

}  // namespace

Offspring ChildRequests::Select(int generation, std::size_t made) const {
  Offspring offspring;
  offspring.generation = generation;
  auto& weights = offspring.weights[Bottleneck::kNone];
  if (parts_.selection == nullptr) {
    weights.assign(settings_.run.operators.begin(), settings_.run.operators.end());
  } else {
    weights = parts_.selection->Weights();
    for (const Bottleneck bottleneck : kBottlenecks) {
      if (parts_.selection->by_bottleneck()) offspring.weights[bottleneck] = parts_.selection->Weights(bottleneck);
    }
  }
  const int children = Children(generation, made);
  const auto count = static_cast<std::size_t>(parts_.choice.ToBreed(children));
  if (ByStructure()) {
    if (generation == 1) AddRestructured(offspring);
    if (generation == 2) {
      AddEach(offspring, parts_.population.members().front().candidate, true);
      AddTuned(offspring, static_cast<std::size_t>(children / kTunedOneIn));
      AddOtherForms(offspring);
      AddEach(offspring, parts_.population.members().front().candidate, false);
    }
    if (offspring.tries = !offspring.requests.empty(); offspring.tries) return offspring;
    AddCombined(offspring, static_cast<std::size_t>(children / kCombinedOneIn));
    AddUntuned(offspring, static_cast<std::size_t>(children / kUntunedOneIn));
    if (standstill_.Stands()) AddElsewhere(offspring, static_cast<std::size_t>(children / kElsewhereOneIn));
  }
  Add(offspring, count - std::min(count, offspring.parents.size()));
  return offspring;
}

// Each restructuring operator by itself on each of the fastest members, and on templates that passed their deadline: divided
// anew, a kernel of seconds may take milliseconds. They seldom apply, and what they make is where the search begins: to draw them
// would take several generations.
void ChildRequests::AddRestructured(Offspring& offspring) const {
  const std::vector<Individual>& members = parts_.population.members();
  for (std::size_t m = 0; m < std::min(kRestructured, members.size()); ++m) AddEach(offspring, members[m].candidate, true);
  for (const CandidateId late : late_) AddEach(offspring, templates_.at(late), true);
}

// Every operator that restructures, or every other one, by itself, those first that are drawn most often for the parent's
// bottleneck. None that has restructured the parent.
void ChildRequests::AddEach(Offspring& offspring, const Candidate& parent, bool restructures) const {
  Weights some = offspring.weights.at(parts_.selection->BottleneckOf(parent.id));
  std::erase_if(some, [&](const auto& entry) {
    return parts_.selection->Restructures(entry.first) != restructures || (restructures && Has(parent.genome, entry.first));
  });
  std::stable_sort(some.begin(), some.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& op : some) AddChildOf(offspring, parent, {op});
}

// Other settings of the structures that are not the fastest with the one that was drawn: it may be one of their worst.
void ChildRequests::AddTuned(Offspring& offspring, std::size_t most) const {
  const std::vector<Individual>& members = parts_.population.members();
  std::vector<const Candidate*> others;
  for (std::size_t m = 1; m < members.size() && members[m].score_ns <= kWorthTuning * members.front().score_ns; ++m) {
    const Genome& genome = members[m].candidate.genome;
    if (!genome.edits.empty() && !genome.edits.back().brings.empty()) others.push_back(&members[m].candidate);
  }
  for (std::size_t i = 0; i < std::min(most, kSettings * others.size()); ++i) {
    const Candidate& parent = *others[i % others.size()];
    const Weights tuning = OnlyParameters(offspring.weights.at(parts_.selection->BottleneckOf(parent.id)));
    if (!tuning.empty()) AddChildOf(offspring, parent, tuning);
  }
}

// An operator may offer several forms of a structure, such as a product with tensor maps and one without, and draws one. The
// other may be faster by half, and nothing leads from one to the other.
void ChildRequests::AddOtherForms(Offspring& offspring) const {
  std::size_t forms = 0;
  const std::vector<Individual>& members = parts_.population.members();
  for (const Individual& member : members) {
    if (member.score_ns > kWorthTuning * members.front().score_ns) return;
    const Candidate& made = member.candidate;
    const auto parent = made.parents.size() == 1 ? templates_.find(made.parents.front()) : templates_.end();
    if (parent == templates_.end() || !parts_.selection->Restructures(made.op)) continue;
    if (made.genome.edits.empty() || made.genome.edits.back().brings.empty()) continue;
    for (std::size_t i = 0; i < kAskedAgain; ++i) AddChildOf(offspring, parent->second, {{made.op, 1}});
    if (++forms == kOtherForms) return;
  }
}

// Other settings of the structures of which few were tried, one after the other. What the generation before tries is not known
// yet.
void ChildRequests::AddUntuned(Offspring& offspring, std::size_t count) const {
  const std::vector<const Individual*> untuned = standstill_.Untuned();
  const std::size_t first = static_cast<std::size_t>(offspring.generation) * count;
  for (std::size_t i = 0; i < count && !untuned.empty(); ++i) {
    if (parts_.population.TunesParameters(offspring.parents.size())) {
      Add(offspring, 1);
      continue;
    }
    const Candidate& parent = untuned[(first + i) % untuned.size()]->candidate;
    const Weights tuning = OnlyParameters(offspring.weights.at(parts_.selection->BottleneckOf(parent.id)));
    if (!tuning.empty()) AddChildOf(offspring, parent, tuning);
  }
}

int ChildRequests::Children(int generation, std::size_t made) const {
  const bool tries = ByStructure() && generation <= 2;
  const bool early = settings_.early_children > 0 && made < static_cast<std::size_t>(settings_.early_candidates) && !tries;
  return early ? std::min(settings_.early_children, settings_.run.children) : settings_.run.children;
}

void ChildRequests::Add(Offspring& offspring, std::size_t count) const {
  const Population& population = parts_.population;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = offspring.parents.size();
    AddChild(offspring, SelectParents(population.Mates(index), population.TournamentSize(), settings_.run.seed,
                                      static_cast<std::uint64_t>(offspring.generation), index));
  }
}

void ChildRequests::AddChild(Offspring& offspring, Parents parents) const {
  const std::size_t index = offspring.parents.size();
  const Bottleneck bottleneck =
      parts_.selection == nullptr ? Bottleneck::kNone : parts_.selection->BottleneckOf(parents.ids.front());
  Weights weights = WeightsFor(parents.genomes.front(), offspring.weights.at(bottleneck));
  if (parts_.population.TunesParameters(index)) weights = OfParameters(weights);
  offspring.requests.push_back({std::move(parents.genomes), std::move(parents.sources), std::move(weights), settings_.run.seed,
                                static_cast<std::uint64_t>(offspring.generation), index});
  offspring.parents.push_back(std::move(parents.ids));
}

void ChildRequests::AddChildOf(Offspring& offspring, const Candidate& parent, Weights operators, std::vector<Edit> alike) const {
  const std::size_t index = offspring.parents.size();
  offspring.requests.push_back({{parent.genome}, {parent.source}, std::move(operators), settings_.run.seed});
  offspring.requests.back().generation = static_cast<std::uint64_t>(offspring.generation);
  offspring.requests.back().index = index;
  offspring.requests.back().alike = std::move(alike);
  offspring.parents.push_back({parent.id});
}

// Fast members with edits that won on others of their structure. The first two are the fastest member with all of them, and with
// the two best. Where there are no more than these, those of every second generation are drawn as the others are.
void ChildRequests::AddCombined(Offspring& offspring, std::size_t count) const {
  const auto generation = static_cast<std::size_t>(offspring.generation);
  const std::size_t first = count <= 2 && generation % 2 == 0 ? generation : 0;
  for (std::size_t turn = first; turn < first + count; ++turn) {
    const std::size_t index = offspring.parents.size();
    if (parts_.population.TunesParameters(index)) {
      Add(offspring, 1);
      continue;
    }
    Rng rng(settings_.run.seed ^ kCombinationStream, generation, turn);
    const std::vector<Individual>& mates = parts_.population.Mates(index);
    std::size_t place = turn < 2 ? 0 : mates.size() - 1;
    for (int i = 0; turn >= 2 && i < kCombinationTournament; ++i) place = std::min<std::size_t>(place, rng.Below(mates.size()));
    AddCombination(offspring, mates[place].candidate, turn, rng);
  }
}

// False if nothing won that the parent does not have.
bool ChildRequests::AddCombination(Offspring& offspring, const Candidate& parent, std::size_t turn, Rng& rng) const {
  const std::size_t index = offspring.parents.size();
  const Bottleneck bottleneck = parts_.selection->BottleneckOf(parent.id);
  std::vector<Edit> edits = won_.EditsFor(parent.genome, bottleneck, *parts_.selection, turn, rng);
  if (edits.empty()) return false;
  const bool tunes = turn % kAlsoTunedOneIn == kAlsoTunedOneIn - 1;
  AddChildOf(offspring, parent, tunes ? OnlyParameters(offspring.weights.at(bottleneck)) : Weights(), std::move(edits));
  offspring.combined.insert(index);
  return true;
}

// The fastest member restructured once more, when the search comes to a standstill, and children of what was fastest among other
// structures: a combination of what won there, or as any child.
void ChildRequests::AddElsewhere(Offspring& offspring, std::size_t count) const {
  if (standstill_.Begins()) AddEach(offspring, parts_.population.members().front().candidate, true);
  const std::vector<const Individual*> elsewhere = standstill_.Elsewhere();
  for (std::size_t i = 0; i < count && !elsewhere.empty(); ++i) {
    if (parts_.population.TunesParameters(offspring.parents.size())) {
      Add(offspring, 1);
      continue;
    }
    const Candidate& parent = elsewhere[i % elsewhere.size()]->candidate;
    Rng rng(settings_.run.seed ^ kElsewhereStream, static_cast<std::uint64_t>(offspring.generation), i);
    const bool combines = rng.Chance(0.5) && AddCombination(offspring, parent, rng.Below(3), rng);
    if (!combines) AddChild(offspring, {{parent.id}, {parent.genome}, {parent.source}});
  }
}

// Dividing the work once more undoes what was done, or does it twice.
ChildRequests::Weights ChildRequests::WeightsFor(const Genome& parent, Weights weights) const {
  if (!ByStructure()) return weights;
  for (auto& [op, weight] : weights) {
    if (parts_.selection->Restructures(op) && Has(parent, op)) weight *= kRepeated;
  }
  return weights;
}

// Only where a run has no other template to go on from: their children may be as slow, and the generation waits for all of them.
void ChildRequests::LearnLate(const GenerationRecord& record) {
  const auto ok = [](const Evaluation& evaluation) { return evaluation.outcome == Outcome::kOk; };
  if (!settings_.baseline_apart || std::any_of(record.evaluations.begin() + 1, record.evaluations.end(), ok)) return;
  for (std::size_t i = 1; i < record.candidates.size(); ++i) {
    if (record.evaluations[i].outcome == Outcome::kTimeout) late_.push_back(record.candidates[i].id);
  }
}

void ChildRequests::Learn(const GenerationRecord& record) {
  if (!ByStructure()) return;
  if (record.generation == 0) {
    for (const Candidate& candidate : record.candidates) templates_.emplace(candidate.id, candidate);
    LearnLate(record);
  }
  won_.Learn(record, *parts_.selection);
  standstill_.Learn(record, *parts_.selection, settings_.baseline_apart);
}

}  // namespace evo
