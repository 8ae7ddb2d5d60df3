#include "engine/reproduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "engine/trial_runner.h"

namespace evo {
namespace {

// Times that children are bred in the place of those that are nothing new. A small generation does not keep the compilers busy
// while the next one is bred; early generations, whose parents are few, would be half as large as the run asks for.
constexpr int kRoundsForDuplicates = 3;

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
constexpr int kSettings = 3;
constexpr double kWorthTuning = 4;
// What is left of the weight of an operator that has divided the parent's work already.
constexpr double kRepeated = 0.1;
// So many of the templates at their defaults, the fastest ones, are restructured first.
constexpr std::size_t kRestructured = 4;

using Weights = std::vector<std::pair<std::string, double>>;

// Those that set parameters and leave edits alone.
Weights OnlyParameters(const Weights& weights) {
  Weights some;
  for (const auto& [op, weight] : weights) {
    if (op.starts_with("parameter_") && weight > 0) some.emplace_back(op, weight);
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

GenerationRecord Reproduction::Defaults(const std::stop_token& stop) {
  const std::vector<Genome>& seeds = settings_.seeds;
  std::vector<BreedRequest> requests;
  for (const Genome& genome : seeds) requests.push_back({{genome}, {}, {}, settings_.run.seed, 0, requests.size()});
  std::vector<BredChild> rendered = parts_.breeder.Breed(std::move(requests), stop);
  GenerationRecord record;
  for (std::size_t i = 0; i < rendered.size() && !stop.stop_requested(); ++i) {
    if (!rendered[i].genome)
      throw Error(fmt::format("template {} cannot be rendered: {}", seeds[i].template_name, rendered[i].failure));
    record.candidates.push_back({next_id_++, 0, static_cast<int>(i), seeds[i], {}, kDefault, {}, std::move(rendered[i].source)});
    seen_.insert(Digest(record.candidates.back().source));
  }
  made_ = record.candidates.size();
  return record;
}

Offspring Reproduction::Select(int generation) {
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
  const int children = Children(generation);
  const auto count = static_cast<std::size_t>(parts_.choice.ToBreed(children));
  if (ByStructure()) {
    if (generation == 1) AddRestructured(offspring);
    if (generation == 2) {
      AddEach(offspring, parts_.population.members().front().candidate, true);
      AddTuned(offspring);
      AddEach(offspring, parts_.population.members().front().candidate, false);
    }
    if (offspring.tries = !offspring.requests.empty(); offspring.tries) return offspring;
    AddCombined(offspring, static_cast<std::size_t>(children / kCombinedOneIn));
    if (standstill_.Stands()) AddElsewhere(offspring, static_cast<std::size_t>(children / kElsewhereOneIn));
  }
  AddRequests(offspring, count - std::min(count, offspring.parents.size()));
  return offspring;
}

// Each restructuring operator by itself on each of the fastest members. They seldom apply, and what they make is where the search
// begins: to draw them would take several generations.
void Reproduction::AddRestructured(Offspring& offspring) const {
  const std::vector<Individual>& members = parts_.population.members();
  for (std::size_t m = 0; m < std::min(kRestructured, members.size()); ++m) AddEach(offspring, members[m].candidate, true);
}

// Every operator that restructures, or every other one, by itself, those first that are drawn most often for the parent's
// bottleneck. None that has restructured the parent.
void Reproduction::AddEach(Offspring& offspring, const Candidate& parent, bool restructures) const {
  Weights some = offspring.weights.at(parts_.selection->BottleneckOf(parent.id));
  std::erase_if(some, [&](const auto& entry) {
    return parts_.selection->Restructures(entry.first) != restructures || (restructures && Has(parent.genome, entry.first));
  });
  std::stable_sort(some.begin(), some.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const auto generation = static_cast<std::uint64_t>(offspring.generation);
  for (const auto& op : some) {
    const std::size_t index = offspring.parents.size();
    offspring.requests.push_back({{parent.genome}, {parent.source}, {op}, settings_.run.seed, generation, index});
    offspring.parents.push_back({parent.id});
  }
}

// Other settings of the structures that are not the fastest with the one that was drawn: it may be one of their worst.
void Reproduction::AddTuned(Offspring& offspring) const {
  const std::vector<Individual>& members = parts_.population.members();
  for (std::size_t m = 1; m < members.size() && members[m].score_ns <= kWorthTuning * members.front().score_ns; ++m) {
    const Candidate& parent = members[m].candidate;
    if (parent.genome.edits.empty() || parent.genome.edits.back().brings.empty()) continue;
    const Weights tuning = OnlyParameters(offspring.weights.at(parts_.selection->BottleneckOf(parent.id)));
    for (int i = 0; i < kSettings && !tuning.empty(); ++i) {
      const std::size_t index = offspring.parents.size();
      offspring.requests.push_back({{parent.genome},
                                    {parent.source},
                                    tuning,
                                    settings_.run.seed,
                                    static_cast<std::uint64_t>(offspring.generation),
                                    index});
      offspring.parents.push_back({parent.id});
    }
  }
}

// Of a generation that is made now, at most. The first two of a run that knows of structures are what it has to learn first.
int Reproduction::Children(int generation) const {
  const bool tries = ByStructure() && generation <= 2;
  const bool early = settings_.early_children > 0 && made_ < static_cast<std::size_t>(settings_.early_candidates) && !tries;
  return early ? std::min(settings_.early_children, settings_.run.children) : settings_.run.children;
}

void Reproduction::AddRequests(Offspring& offspring, std::size_t count) const {
  const Population& population = parts_.population;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = offspring.parents.size();
    AddChild(offspring, SelectParents(population.Mates(index), population.TournamentSize(), settings_.run.seed,
                                      static_cast<std::uint64_t>(offspring.generation), index));
  }
}

void Reproduction::AddChild(Offspring& offspring, Parents parents) const {
  const std::size_t index = offspring.parents.size();
  const Bottleneck bottleneck =
      parts_.selection == nullptr ? Bottleneck::kNone : parts_.selection->BottleneckOf(parents.ids.front());
  Weights weights = WeightsFor(parents.genomes.front(), offspring.weights.at(bottleneck));
  if (parts_.population.TunesParameters(index)) weights = OfParameters(weights);
  offspring.requests.push_back({std::move(parents.genomes), std::move(parents.sources), std::move(weights), settings_.run.seed,
                                static_cast<std::uint64_t>(offspring.generation), index});
  offspring.parents.push_back(std::move(parents.ids));
}

// Fast members with edits that won on others of their structure. The first two are the fastest member with all of them, and with
// the two best.
void Reproduction::AddCombined(Offspring& offspring, std::size_t count) const {
  for (std::size_t turn = 0; turn < count; ++turn) {
    const std::size_t index = offspring.parents.size();
    if (parts_.population.TunesParameters(index)) {
      AddRequests(offspring, 1);
      continue;
    }
    Rng rng(settings_.run.seed ^ kCombinationStream, static_cast<std::uint64_t>(offspring.generation), turn);
    const std::vector<Individual>& mates = parts_.population.Mates(index);
    std::size_t place = turn < 2 ? 0 : mates.size() - 1;
    for (int i = 0; turn >= 2 && i < kCombinationTournament; ++i) place = std::min<std::size_t>(place, rng.Below(mates.size()));
    AddCombination(offspring, mates[place].candidate, turn, rng);
  }
}

// False if nothing won that the parent does not have.
bool Reproduction::AddCombination(Offspring& offspring, const Candidate& parent, std::size_t turn, Rng& rng) const {
  const std::size_t index = offspring.parents.size();
  const Bottleneck bottleneck = parts_.selection->BottleneckOf(parent.id);
  std::vector<Edit> edits = won_.EditsFor(parent.genome, bottleneck, *parts_.selection, turn, rng);
  if (edits.empty()) return false;
  Weights tuning;
  if (turn % kAlsoTunedOneIn == kAlsoTunedOneIn - 1) tuning = OnlyParameters(offspring.weights.at(bottleneck));
  offspring.requests.push_back({{parent.genome},
                                {parent.source},
                                std::move(tuning),
                                settings_.run.seed,
                                static_cast<std::uint64_t>(offspring.generation),
                                index,
                                std::move(edits)});
  offspring.parents.push_back({parent.id});
  offspring.combined.insert(index);
  return true;
}

// The fastest member restructured once more, when the search comes to a standstill, and children of what was fastest among other
// structures: a combination of what won there, or as any child.
void Reproduction::AddElsewhere(Offspring& offspring, std::size_t count) const {
  if (standstill_.Begins()) AddEach(offspring, parts_.population.members().front().candidate, true);
  const std::vector<const Individual*> elsewhere = standstill_.Elsewhere();
  for (std::size_t i = 0; i < count && !elsewhere.empty(); ++i) {
    const Candidate& parent = elsewhere[i % elsewhere.size()]->candidate;
    Rng rng(settings_.run.seed ^ kElsewhereStream, static_cast<std::uint64_t>(offspring.generation), i);
    const bool combines = rng.Chance(0.5) && AddCombination(offspring, parent, rng.Below(3), rng);
    if (!combines) AddChild(offspring, {{parent.id}, {parent.genome}, {parent.source}});
  }
}

// Dividing the work once more undoes what was done, or does it twice.
std::vector<std::pair<std::string, double>> Reproduction::WeightsFor(const Genome& parent, Weights weights) const {
  if (!ByStructure()) return weights;
  for (auto& [op, weight] : weights) {
    if (parts_.selection->Restructures(op) && Has(parent, op)) weight *= kRepeated;
  }
  return weights;
}

void Reproduction::Breed(Offspring& offspring, const std::stop_token& stop) const {
  for (BredChild& child : parts_.breeder.Breed(std::exchange(offspring.requests, {}), stop))
    offspring.children.push_back(std::move(child));
}

void Reproduction::DropSeen(Offspring& offspring, const StopCondition& stop) const {
  Inspect(offspring);
  if (offspring.tries && !offspring.fresh.empty()) return;  // they are few, and the run waits for what they are worth
  const std::size_t wanted = stop.Allowed(made_, static_cast<std::size_t>(Children(offspring.generation)));
  for (int round = 0; round < kRoundsForDuplicates && offspring.fresh.size() < wanted && !stop.SearchStopped(); ++round) {
    AddRequests(offspring, wanted - offspring.fresh.size());
    Breed(offspring, stop.search_token());
    Inspect(offspring);
  }
}

// Of the children bred since the last time. Sources that were seen are only counted, as are edits that are known to leave the
// program as it was.
void Reproduction::Inspect(Offspring& offspring) const {
  for (std::size_t i = offspring.digests.size(); i < offspring.children.size(); ++i) {
    const BredChild& child = offspring.children[i];
    for (const std::string& op : child.inapplicable) ++offspring.inapplicable[op];
    const std::string& digest = offspring.digests.emplace_back(child.genome ? Digest(child.source) : "");
    if (!child.genome) continue;
    if (seen_.contains(digest) || neutral_.ChangesNothing(child) || !offspring.bred.insert(digest).second)
      ++offspring.duplicates;
    else
      offspring.fresh.push_back(i);
  }
}

GenerationRecord Reproduction::Rank(Offspring offspring, const StopCondition& stop) {
  const std::size_t most =
      std::min(stop.Allowed(made_, offspring.fresh.size()), static_cast<std::size_t>(Children(offspring.generation)));
  const auto more = [&](Offspring& into, std::size_t count) {
    if (stop.SearchStopped()) return false;
    AddRequests(into, count);
    Breed(into, stop.search_token());
    Inspect(into);
    return true;
  };
  GenerationRecord record;
  record.generation = offspring.generation;
  std::vector<std::size_t> chosen = TakeTuned(offspring, most);
  for (const std::size_t i : parts_.choice.Choose(offspring, most - chosen.size(), more)) chosen.push_back(i);
  std::sort(chosen.begin(), chosen.end());
  for (const std::size_t i : chosen) {
    seen_.insert(offspring.digests[i]);
    record.candidates.push_back(MakeCandidate(offspring, i));
  }
  parts_.choice.Await(record.candidates);
  record.duplicates = offspring.duplicates;
  record.inapplicable = std::move(offspring.inapplicable);
  made_ += record.candidates.size();
  return record;
}

// Of the new children those that tune a structure, half of the generation at most. They are not among the others any more: a
// surrogate would leave them out for what the structure was before.
std::vector<std::size_t> Reproduction::TakeTuned(Offspring& offspring, std::size_t most) const {
  const std::size_t wanted = std::min(most / 2, parts_.population.TuningChildren());
  std::vector<std::size_t> taken, others;
  for (const std::size_t i : offspring.fresh) {
    const bool takes = taken.size() < wanted && parts_.population.TunesParameters(i);
    (takes ? taken : others).push_back(i);
  }
  offspring.fresh = std::move(others);
  return taken;
}

Candidate Reproduction::MakeCandidate(Offspring& offspring, std::size_t i) {
  BredChild& child = offspring.children[i];
  std::vector<CandidateId> parents = std::move(offspring.parents[i]);
  if (child.parentless)
    parents.clear();
  else if (!child.used_second_parent)
    parents.resize(1);
  std::string op = offspring.combined.contains(i) ? kCombine : std::move(child.op);
  return {next_id_++,         offspring.generation, static_cast<int>(i),      std::move(*child.genome),
          std::move(parents), std::move(op),        std::move(child.dropped), std::move(child.source)};
}

GenerationRecord Reproduction::Reproduce(int generation, const StopCondition& stop) {
  Offspring offspring = Select(generation);
  Breed(offspring, stop.search_token());
  DropSeen(offspring, stop);
  return Rank(std::move(offspring), stop);
}

void Reproduction::Reserve(const GenerationRecord& record) {
  if (!record.candidates.empty()) next_id_ = std::max(next_id_, record.candidates.back().id + 1);
  if (IsTrial(record)) return;  // what minimisation tried may be bred as well: the evolution goes on as if it had not been there
  for (const Evaluation& evaluation : record.evaluations) seen_.insert(evaluation.source_digest);
  parts_.choice.Await(record.candidates);
  made_ += record.candidates.size();
}

void Reproduction::Learn(const GenerationRecord& record) {
  for (const Evaluation& evaluation : record.evaluations) seen_.insert(evaluation.source_digest);
  if (parts_.selection != nullptr) {
    if (ByStructure()) {
      won_.Learn(record, *parts_.selection);
      standstill_.Learn(record, *parts_.selection);
    }
    parts_.selection->Learn(record);
  }
  neutral_.Learn(record);
  parts_.choice.Learn(record);
}

}  // namespace evo
