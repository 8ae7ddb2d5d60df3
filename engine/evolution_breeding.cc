// How the children of a generation come about.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "engine/evolution.h"
#include "engine/selection.h"

namespace evo {
namespace {

// Of a replay: times that children which are not recorded give way to as many others. Most of what any search breeds was never recorded by another, and
// breeding costs a thousandth of an evaluation.
constexpr int kFurtherRounds = 24;

}  // namespace

// Every template at its default parameters.
Evolution::Generation Evolution::Default(const std::stop_token& stop) {
  std::vector<BreedRequest> requests;
  for (const Genome& genome : seeds_) requests.push_back({{genome}, {}, {}, run_.seed, 0, requests.size()});
  breeder_.Start(requests);
  std::vector<BredChild> rendered = breeder_.Finish(stop);
  Generation generation;
  for (std::size_t i = 0; i < rendered.size() && !stop.stop_requested(); ++i) {
    if (!rendered[i].genome) throw Error(fmt::format("template {} cannot be rendered: {}", seeds_[i].template_name, rendered[i].failure));
    Candidate candidate{next_id_++, 0, static_cast<int>(i), seeds_[i], {}, "default", {}, std::move(rendered[i].source)};
    const std::string digest = Digest(candidate.source);
    if (!IsRecorded(digest)) {
      throw Error(fmt::format("template {} at its defaults is not among the recorded evaluations; name with --template those that the recorded runs had",
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
  StartChildren(generation, ranker_ != nullptr ? ranker_->ToBreed(run_.children) : run_.children);
}

// So many children more of the generation that is being bred.
void Evolution::StartChildren(int generation, int count) {
  std::vector<BreedRequest> requests;
  for (int i = 0; i < count; ++i) {
    const auto g = static_cast<std::uint64_t>(generation);
    const std::size_t index = parents_.size();
    Parents parents = SelectParents(population_.Mates(index), population_.TournamentSize(), run_.seed, g, index);
    requests.push_back({std::move(parents.genomes), std::move(parents.sources), weights_, run_.seed, g, index});
    parents_.push_back(std::move(parents.ids));
  }
  breeder_.Start(std::move(requests));
}

bool Evolution::IsRecorded(const std::string& source_digest) const { return recorded_ == nullptr || recorded_->Find(source_digest) != nullptr; }

// Of the children from place `first` those that may be evaluated; the others are counted. Returns how many are not recorded.
int Evolution::Sift(const std::vector<BredChild>& children, std::size_t first, std::set<std::string>& here, std::vector<std::size_t>& fresh,
                    GenerationRecord& record) const {
  int unrecorded = 0;
  for (std::size_t i = first; i < children.size(); ++i) {
    for (const std::string& op : children[i].inapplicable) ++record.inapplicable[op];
    if (!children[i].genome) continue;
    const std::string digest = Digest(children[i].source);
    if (seen_.contains(digest) || !here.insert(digest).second) {
      ++record.duplicates;
    } else if (IsRecorded(digest)) {
      fresh.push_back(i);
    } else if (missing_ == Missing::kEndsTheRun) {
      throw Error(fmt::format("generation {}: the child at place {}, made by {}, is not recorded: this is not the run that was recorded", record.generation, i,
                              children[i].op));
    } else {
      ++unrecorded;
    }
  }
  return unrecorded;
}

// The children that are new, as many as the run asks for; ids are given in order.
Evolution::Generation Evolution::FinishBreeding(int number, const StopCondition& stop) {
  std::vector<BredChild> children = breeder_.Finish(stop.token());
  Generation generation;
  generation.record.generation = number;
  std::vector<std::size_t> fresh;
  std::set<std::string> here;   // what is bred and not chosen may be bred again
  int unrecorded = Sift(children, 0, here, fresh, generation.record);
  unrecorded_ += unrecorded;
  for (int round = 0; unrecorded > 0 && missing_ == Missing::kGivesWay && round < kFurtherRounds && !stop.Interrupted(); ++round) {
    StartChildren(number, unrecorded);
    std::vector<BredChild> further = breeder_.Finish(stop.token());
    const std::size_t first = children.size();
    std::move(further.begin(), further.end(), std::back_inserter(children));
    unrecorded = Sift(children, first, here, fresh, generation.record);
    unrecorded_ += unrecorded;
  }
  bred_ += static_cast<int>(children.size());
  for (const std::size_t i : Chosen(children, fresh, stop.Allowed(made_, fresh.size()))) {
    BredChild& child = children[i];
    seen_.insert(Digest(child.source));
    std::vector<CandidateId> parents = parents_[i];
    if (child.parentless) parents.clear();
    else if (!child.used_second_parent) parents.resize(1);
    generation.record.candidates.push_back({next_id_++, number, static_cast<int>(i), std::move(*child.genome), std::move(parents),
                                            std::move(child.op), std::move(child.dropped), std::move(child.source)});
  }
  made_ += generation.record.candidates.size();
  return generation;
}

// Of the fresh children those that are worth an evaluation, at most so many, in their order.
std::vector<std::size_t> Evolution::Chosen(const std::vector<BredChild>& children, const std::vector<std::size_t>& fresh, std::size_t most) const {
  std::vector<std::size_t> chosen(fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(most));
  if (ranker_ == nullptr) return chosen;
  std::vector<Genome> genomes;
  for (const std::size_t i : fresh) genomes.push_back(*children[i].genome);
  chosen.clear();
  for (const std::size_t place : ranker_->Choose(genomes, std::min(most, static_cast<std::size_t>(run_.children)))) chosen.push_back(fresh[place]);
  return chosen;
}

}  // namespace evo
