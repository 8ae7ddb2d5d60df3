#include "engine/unproven_edits.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace evo {
namespace {

std::vector<std::size_t> UnprovenPlaces(const Genome& genome, const Promises& promises) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < genome.edits.size(); ++i) {
    if (PromiseOf(promises, genome.edits[i].op) == Promise::kUnproven) places.push_back(i);
  }
  return places;
}

class UnprovenRemoval {
 public:
  UnprovenRemoval(const Trial& champion, const Promises& promises, int budget, const EvaluateTrials& evaluate,
                  const RejectedVariants& rejected)
      : promises_(promises), budget_(budget), evaluate_(evaluate), rejected_(rejected), result_{{}, champion, 0, 0} {}

  // False if interrupted.
  bool Run() {
    const std::size_t unproven = Places().size();
    bool first = true;
    while (!Places().empty() && result_.evaluated < budget_) {
      std::vector<std::size_t> removable;
      if (!FindRemovable(first, removable)) return false;
      first = false;
      if (result_.wrong || removable.empty()) break;
      if (!LeaveOut(removable)) return false;
    }
    result_.dropped = static_cast<int>(unproven - Places().size());
    return true;
  }

  WithoutUnproven Result() && { return std::move(result_); }

 private:
  std::vector<std::size_t> Places() const { return UnprovenPlaces(result_.variant.candidate.genome, promises_); }

  bool IsCheap(const Trial& trial) const {
    return IsMeasured(trial) && rejected_.Allow(trial) &&
           trial.evaluation.score_ns <= kUnprovenWorth * result_.variant.evaluation.score_ns;
  }

  // Evaluates as many of the requests as the budget allows. nullopt if interrupted.
  std::optional<std::vector<Trial>> Evaluate(std::vector<TrialRequest> requests) {
    requests.resize(std::min(requests.size(), static_cast<std::size_t>(budget_ - result_.evaluated)));
    result_.evaluated += static_cast<int>(requests.size());
    return evaluate_(requests);
  }

  // Places of edits that may be left out alone, those that cost least first. The first time the champion is measured again.
  bool FindRemovable(bool first, std::vector<std::size_t>& removable) {
    const std::vector<std::size_t> places = Places();
    const Genome& genome = result_.variant.candidate.genome;
    std::vector<TrialRequest> requests;
    if (first) requests.push_back({genome, 1});
    for (const std::size_t place : places) requests.push_back({WithoutEdits(genome, {place})});
    const std::optional<std::vector<Trial>> trials = Evaluate(std::move(requests));
    if (!trials) return false;
    auto trial = trials->begin();
    if (first) {
      if (IsWrong(trial->evaluation.outcome)) result_.wrong = trial->evaluation;
      if (IsMeasured(*trial)) result_.variant.evaluation = trial->evaluation;
      ++trial;
    }
    std::vector<std::pair<double, std::size_t>> found;
    for (auto place = places.begin(); trial != trials->end(); ++trial, ++place) {
      if (IsCheap(*trial)) found.emplace_back(trial->evaluation.score_ns, *place);
    }
    std::sort(found.begin(), found.end());
    for (const auto& [score_ns, place] : found) removable.push_back(place);
    return true;
  }

  // Each of these edits is removable alone. Together they may be worth more, because one replaces another.
  bool LeaveOut(std::vector<std::size_t> removable) {
    const Genome genome = result_.variant.candidate.genome;
    for (;; removable.resize((removable.size() + 1) / 2)) {
      if (result_.evaluated == budget_) return true;
      const auto trials = Evaluate({{WithoutEdits(genome, removable)}});
      if (!trials) return false;
      if (IsCheap(trials->front())) {
        result_.variant = trials->front();
        return true;
      }
      if (removable.size() == 1) {
        budget_ = result_.evaluated;  // measured twice with two results: it is not shown that the edit is worth nothing
        return true;
      }
    }
  }

  const Promises& promises_;
  int budget_;
  const EvaluateTrials& evaluate_;
  const RejectedVariants& rejected_;
  WithoutUnproven result_;
};

}  // namespace

std::optional<WithoutUnproven> DropUnproven(const Trial& champion, const Promises& promises, int budget,
                                            const EvaluateTrials& evaluate, const RejectedVariants& rejected) {
  UnprovenRemoval removal(champion, promises, budget, evaluate, rejected);
  if (!removal.Run()) return std::nullopt;
  return std::move(removal).Result();
}

bool IsMeasured(const Trial& trial) {
  if (trial.candidate.id == 0 || trial.evaluation.outcome != Outcome::kOk) return false;
  const std::vector<CaseMeasurement>& cases = trial.evaluation.cases;
  return std::none_of(cases.begin(), cases.end(), [](const CaseMeasurement& m) { return m.pruned; });
}

bool IsWrong(Outcome outcome) {
  return outcome == Outcome::kWrongResult || outcome == Outcome::kNondeterministic || outcome == Outcome::kCheating ||
         outcome == Outcome::kCrash;
}

}  // namespace evo
