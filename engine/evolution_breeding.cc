// How the children of a generation come about.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "engine/evolution.h"
#include "engine/selection.h"

namespace evo {
namespace {

// Of a replay: times that children which are not recorded give way to as many others. Most of what any search breeds was never
// recorded by another, and breeding costs a thousandth of an evaluation.
constexpr int kFurtherRounds = 24;
// Times that children which are nothing new give way to as many others. A small generation does not keep the compilers busy while
// the next is bred; early ones, whose parents are few, would be half as large as they were asked to be.
constexpr int kRoundsForDuplicates = 3;

}  // namespace

// Every template at its default parameters.
Evolution::Generation Evolution::Default(const std::stop_token& stop) {
  std::vector<BreedRequest> requests;
  for (const Genome& genome : seeds_) requests.push_back({{genome}, {}, {}, run_.seed, 0, requests.size()});
  breeder_.Start(requests);
  std::vector<BredChild> rendered = breeder_.Finish(stop);
  Generation generation;
  for (std::size_t i = 0; i < rendered.size() && !stop.stop_requested(); ++i) {
    if (!rendered[i].genome)
      throw Error(fmt::format("template {} cannot be rendered: {}", seeds_[i].template_name, rendered[i].failure));
    Candidate candidate{next_id_++, 0, static_cast<int>(i), seeds_[i], {}, "default", {}, std::move(rendered[i].source)};
    const std::string digest = Digest(candidate.source);
    if (!IsRecorded(digest)) {
      throw Error(
          fmt::format("template {} at its defaults is not among the recorded evaluations; name with --template those that the "
                      "recorded runs had",
                      seeds_[i].template_name));
    }
    seen_.insert(digest);
    generation.record.candidates.push_back(std::move(candidate));
  }
  made_ = generation.record.candidates.size();
  return generation;
}

void Evolution::StartBreeding(int generation) {
  parents_.clear();
  weights_.assign(run_.operators.begin(), run_.operators.end());
  if (selection_ != nullptr) weights_ = selection_->Weights();
  if (ranker_ != nullptr) ranker_->Fit();
  StartChildren(generation, static_cast<std::size_t>(ranker_ != nullptr ? ranker_->ToBreed(run_.children) : run_.children));
}

// So many children more of the generation that is being bred.
void Evolution::StartChildren(int generation, std::size_t count) {
  std::vector<BreedRequest> requests;
  for (std::size_t i = 0; i < count; ++i) {
    const auto g = static_cast<std::uint64_t>(generation);
    const std::size_t index = parents_.size();
    Parents parents = SelectParents(population_.Mates(index), population_.TournamentSize(), run_.seed, g, index);
    requests.push_back({std::move(parents.genomes), std::move(parents.sources), weights_, run_.seed, g, index});
    parents_.push_back(std::move(parents.ids));
  }
  breeder_.Start(std::move(requests));
}

bool Evolution::IsRecorded(const std::string& source_digest) const {
  return recorded_ == nullptr || recorded_->Find(source_digest) != nullptr;
}

// Adds what was bred to the offspring. What has been seen before is only counted, and what is known to be the same program in
// other words.
void Evolution::Gather(Offspring& offspring, std::vector<BredChild> bred, GenerationRecord& record) const {
  for (BredChild& child : bred) {
    for (const std::string& op : child.inapplicable) ++record.inapplicable[op];
    offspring.digests.push_back(child.genome ? Digest(child.source) : "");
    if (child.genome) {
      const std::string& digest = offspring.digests.back();
      if (seen_.contains(digest) || neutral_.ChangesNothing(child) || !offspring.here.insert(digest).second)
        ++record.duplicates;
      else
        offspring.fresh.push_back(offspring.children.size());
    }
    offspring.children.push_back(std::move(child));
  }
}

// Of the fresh children those that are to be evaluated, at most so many, each of them recorded if the run is restricted to that.
std::vector<std::size_t> Evolution::Choose(Offspring& offspring, GenerationRecord& record, std::size_t most,
                                           const std::stop_token& stop) {
  std::vector<std::size_t> chosen = MostPromising(offspring, most);
  const auto lacks = [&](std::size_t i) { return !IsRecorded(offspring.digests[i]); };
  const auto lacking = std::find_if(chosen.begin(), chosen.end(), lacks);
  if (lacking == chosen.end()) return chosen;
  if (missing_ == Missing::kEndsTheRun) {
    throw Error(
        fmt::format("generation {}: the child at place {}, made by {}, is not recorded: this is not the run that was recorded",
                    record.generation, *lacking, offspring.children[*lacking].op));
  }
  const std::size_t wanted = chosen.size();
  for (int round = 0;; ++round) {
    unrecorded_ += static_cast<int>(std::erase_if(offspring.fresh, lacks));
    chosen = MostPromising(offspring, wanted);
    if (chosen.size() == wanted || missing_ == Missing::kIsLeftOut || round == kFurtherRounds || stop.stop_requested())
      return chosen;
    StartChildren(record.generation, wanted - chosen.size());
    Gather(offspring, breeder_.Finish(stop), record);
  }
}

// The children that are new, as many as the run asks for; ids are given in order.
Evolution::Generation Evolution::FinishBreeding(int number, const StopCondition& stop) {
  Generation generation;
  generation.record.generation = number;
  Offspring offspring;
  Gather(offspring, breeder_.Finish(stop.token()), generation.record);
  const std::size_t wanted = stop.Allowed(made_, static_cast<std::size_t>(run_.children));
  for (int round = 0; round < kRoundsForDuplicates && offspring.fresh.size() < wanted && !stop.token().stop_requested();
       ++round) {
    StartChildren(number, wanted - offspring.fresh.size());
    Gather(offspring, breeder_.Finish(stop.token()), generation.record);
  }
  for (const std::size_t i : Choose(offspring, generation.record, stop.Allowed(made_, offspring.fresh.size()), stop.token())) {
    BredChild& child = offspring.children[i];
    seen_.insert(offspring.digests[i]);
    std::vector<CandidateId> parents = parents_[i];
    if (child.parentless)
      parents.clear();
    else if (!child.used_second_parent)
      parents.resize(1);
    generation.record.candidates.push_back({next_id_++, number, static_cast<int>(i), std::move(*child.genome), std::move(parents),
                                            std::move(child.op), std::move(child.dropped), std::move(child.source)});
  }
  bred_ += static_cast<int>(offspring.children.size());
  made_ += generation.record.candidates.size();
  return generation;
}

// Of the fresh children those that are worth an evaluation, at most so many, in their order.
std::vector<std::size_t> Evolution::MostPromising(const Offspring& offspring, std::size_t most) const {
  if (ranker_ == nullptr)
    return {offspring.fresh.begin(),
            offspring.fresh.begin() + static_cast<std::ptrdiff_t>(std::min(most, offspring.fresh.size()))};
  std::vector<Genome> genomes;
  for (const std::size_t i : offspring.fresh) genomes.push_back(*offspring.children[i].genome);
  std::vector<std::size_t> chosen;
  for (const std::size_t place : ranker_->Choose(genomes, std::min(most, static_cast<std::size_t>(run_.children))))
    chosen.push_back(offspring.fresh[place]);
  return chosen;
}

}  // namespace evo
