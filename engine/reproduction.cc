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

void Reproduction::Breed(Offspring& offspring, const std::stop_token& stop) const {
  for (BredChild& child : parts_.breeder.Breed(std::exchange(offspring.requests, {}), stop))
    offspring.children.push_back(std::move(child));
}

void Reproduction::DropSeen(Offspring& offspring, const StopCondition& stop) const {
  Inspect(offspring);
  if (offspring.tries && !offspring.fresh.empty()) return;  // they are few, and the run waits for what they are worth
  const std::size_t wanted = stop.Allowed(made_, static_cast<std::size_t>(requests_.Children(offspring.generation, made_)));
  for (int round = 0; round < kRoundsForDuplicates && offspring.fresh.size() < wanted && !stop.SearchStopped(); ++round) {
    // Where nothing is new, a small generation looks as far as a large one before it is empty.
    const std::size_t missing = wanted - offspring.fresh.size();
    requests_.Add(offspring, offspring.fresh.empty() ? static_cast<std::size_t>(settings_.run.children) : missing);
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
  const std::size_t most = std::min(stop.Allowed(made_, offspring.fresh.size()),
                                    static_cast<std::size_t>(requests_.Children(offspring.generation, made_)));
  const auto more = [&](Offspring& into, std::size_t count) {
    if (stop.SearchStopped()) return false;
    requests_.Add(into, count);
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
  requests_.Learn(record);
  if (parts_.selection != nullptr) parts_.selection->Learn(record);
  neutral_.Learn(record);
  parts_.choice.Learn(record);
}

}  // namespace evo
