#include "engine/minimisation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "engine/champion.h"
#include "engine/rejected_variants.h"
#include "engine/unproven_edits.h"

namespace evo {
namespace {

// Chunks that an edit list is cut into at first. Lists are seldom longer, and a batch of this size keeps the compile workers
// busy.
constexpr std::size_t kChunks = 16;
// Twice the difference that a kernel's placement in memory makes to a few microseconds from one load to the next.
constexpr double kDoubtfulLoss = 1.03;

// Edits first .. last - 1.
struct Chunk {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<Chunk> Chunks(std::size_t size, std::size_t count) {
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i < count; ++i) chunks.push_back({i * size / count, (i + 1) * size / count});
  return chunks;
}

Genome Without(const Genome& genome, const std::vector<Chunk>& chunks) {
  std::vector<std::size_t> places;
  for (const Chunk& chunk : chunks) {
    for (std::size_t i = chunk.first; i < chunk.last; ++i) places.push_back(i);
  }
  return WithoutEdits(genome, places);
}

class DeltaDebugging {
 public:
  DeltaDebugging(const Trial& champion, int budget, const EvaluateTrials& evaluate, const RejectedVariants& rejected,
                 bool from_the_back)
      : champion_(champion),
        speed_(champion),
        variant_(champion),
        left_(budget),
        evaluate_(evaluate),
        rejected_(rejected),
        from_the_back_(from_the_back) {}

  // False if interrupted.
  bool Run() {
    if (!MeasureAgain({})) return false;
    if (wrong_) return true;
    std::size_t count = std::min(kChunks, Size());
    while (Size() > 0) {
      const std::vector<Chunk> chunks = Chunks(Size(), count);
      std::vector<Genome> asked;
      for (const Chunk& chunk : chunks) asked.push_back(Without(Edited(), {chunk}));
      if (!Know(asked)) return false;
      std::vector<Chunk> removable;
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        if (Keeps(asked[i])) removable.push_back(chunks[i]);
      }
      if (!removable.empty()) {
        if (!LeaveOut(removable)) return false;
        count = std::min(kChunks, Size());
      } else if (count == Size() || left_ == 0) {
        return true;
      } else {
        count = std::min(2 * count, Size());
      }
    }
    return true;
  }

  Minimised Result() {
    Minimised result{wrong_, variant_, 0, {}};
    for (std::size_t i = 0; i < Size(); ++i) result.without.push_back(Known(Without(Edited(), {{i, i + 1}})).trial.candidate.id);
    return result;
  }

 private:
  struct Measured {
    Trial trial;
    bool keeps = false;  // whether it keeps the champion's speed
  };

  const Genome& Edited() const { return variant_.candidate.genome; }
  std::size_t Size() const { return Edited().edits.size(); }

  bool Keeps(const Genome& genome) const {
    const Measured known = Known(genome);
    return known.keeps && rejected_.Allow(known.trial);
  }

  // Each of these chunks is removable alone. Leaves out as many of them together as possible: one edit may replace another, and
  // many losses below the noise add up to one above it.
  bool LeaveOut(const std::vector<Chunk>& removable) {
    for (std::size_t count = removable.size();; count = (count + 1) / 2) {
      const std::vector<Chunk> some(from_the_back_ ? removable.end() - static_cast<std::ptrdiff_t>(count) : removable.begin(),
                                    from_the_back_ ? removable.end() : removable.begin() + static_cast<std::ptrdiff_t>(count));
      const Genome less = Without(Edited(), some);
      if (!Know({less})) return false;
      if (count > 1 && !Keeps(less)) continue;
      variant_ = Known(less).trial;
      return true;
    }
  }

  // Evaluates the genomes that are not known, as far as the budget allows. False if interrupted.
  bool Know(const std::vector<Genome>& genomes) {
    std::vector<TrialRequest> unknown;
    for (const Genome& genome : genomes) {
      if (known_.contains(GenomeHash(genome)) || left_ == 0) continue;
      unknown.push_back({genome});
      --left_;
    }
    if (unknown.empty()) return true;
    const std::optional<std::vector<Trial>> trials = evaluate_(unknown);
    if (!trials) return false;
    std::vector<Genome> doubtful;
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      const Trial& trial = trials->at(i);
      const bool keeps = KeepsSpeed(trial, speed_);
      known_[GenomeHash(unknown[i].genome)] = {trial, keeps};
      if (!keeps && rejected_.Allow(trial) && trial.evaluation.score_ns <= kDoubtfulLoss * speed_.evaluation.score_ns)
        doubtful.push_back(unknown[i].genome);
    }
    return doubtful.empty() || MeasureAgain(std::move(doubtful));
  }

  // Measures the champion and these genomes once more in one batch, as far as the budget allows. False if interrupted.
  bool MeasureAgain(std::vector<Genome> genomes) {
    if (left_ == 0) return true;
    if (static_cast<int>(genomes.size()) >= left_) genomes.resize(static_cast<std::size_t>(left_) - 1);
    left_ -= static_cast<int>(genomes.size()) + 1;
    std::vector<TrialRequest> requests{{champion_.candidate.genome, ++measured_}};
    for (const Genome& genome : genomes) requests.push_back({genome, 1});
    const std::optional<std::vector<Trial>> trials = evaluate_(requests);
    if (!trials) return false;
    const Trial& again = trials->front();
    if (IsWrong(again.evaluation.outcome)) wrong_ = again.evaluation;
    // A pruned measurement was stopped early and says only that the champion was slower than a lucky time.
    if (IsMeasured(again)) speed_ = again;
    for (std::size_t i = 0; i < genomes.size(); ++i) {
      const Trial& trial = trials->at(i + 1);
      if (KeepsSpeed(trial, speed_)) known_[GenomeHash(genomes[i])] = {trial, true};
    }
    return true;
  }

  // Its trial is empty if the genome was not evaluated.
  Measured Known(const Genome& genome) const {
    const auto found = known_.find(GenomeHash(genome));
    return found == known_.end() ? Measured{} : found->second;
  }

  const Trial& champion_;
  Trial speed_;                      // the champion's last measurement, which variants have to match
  int measured_ = 0;                 // how often the champion was measured here
  std::optional<Evaluation> wrong_;  // the champion's, if it was found wrong
  Trial variant_;                    // the champion without the edits that were left out so far
  int left_;                         // evaluations that the budget has left
  const EvaluateTrials& evaluate_;
  std::map<std::string, Measured> known_;  // by the hash of the requested genome
  const RejectedVariants& rejected_;
  bool from_the_back_;  // of removable chunks the last are left out first
};

// A check's measurement in units of `unit` times the baseline's time.
Evaluation OverBaseline(const ChampionCheck& check, double unit) {
  Evaluation evaluation;
  evaluation.outcome = check.outcome;
  for (std::size_t i = 0; i < std::min(check.candidate.size(), check.baseline.size()); ++i) {
    CaseMeasurement measured = check.candidate[i];
    for (double* time : {&measured.median_ns, &measured.p10_ns, &measured.p90_ns, &measured.tick_ns})
      *time /= unit * check.baseline[i].median_ns;
    evaluation.cases.push_back(std::move(measured));
  }
  return evaluation;
}

// How many times faster a check found its candidate than the baseline. 1 if it has no times.
double GainOf(const ChampionCheck& check) {
  double gain = 0;
  double weights = 0;
  for (std::size_t i = 0; i < std::min(check.candidate.size(), check.baseline.size()); ++i) {
    gain += check.candidate[i].weight * std::log(check.baseline[i].median_ns / check.candidate[i].median_ns);
    weights += check.candidate[i].weight;
  }
  return weights > 0 ? std::exp(gain / weights) : 1;
}

}  // namespace

bool KeepsSpeed(const Trial& trial, const Trial& champion) {
  return IsMeasured(trial) && !Beats(champion.evaluation, trial.evaluation);
}

bool KeepsSpeed(const ChampionCheck& minimised, const ChampionCheck& champion, int unproven_dropped) {
  const double allowed = std::min(std::pow(kUnprovenWorth, unproven_dropped), std::sqrt(std::max(1.0, GainOf(champion))));
  return minimised.outcome == Outcome::kOk && !Beats(OverBaseline(champion, 1), OverBaseline(minimised, allowed));
}

std::optional<Minimised> Minimise(const Trial& champion, const Promises& promises, int budget, const EvaluateTrials& evaluate,
                                  const std::vector<Trial>& rejected) {
  const RejectedVariants rejections(rejected, champion.candidate.genome.edits.size());
  const auto proven = DropUnproven(champion, promises, budget, evaluate, rejections);
  if (!proven) return std::nullopt;
  if (proven->wrong) return Minimised{proven->wrong, champion, 0, {}};
  const int left = budget - proven->evaluated;
  DeltaDebugging search(proven->variant, left, evaluate, rejections, rejected.size() % 2 == 1);
  if (!search.Run()) return std::nullopt;
  Minimised result = search.Result();
  if (result.wrong && proven->dropped > 0) {
    // Not the champion was found wrong but its variant.
    std::vector<Trial> more = rejected;
    more.push_back(proven->variant);
    return Minimise(champion, promises, std::max(0, left - 1), evaluate, more);
  }
  result.unproven_dropped = proven->dropped;
  return result;
}

}  // namespace evo
