#include "engine/landscape_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/rng.h"
#include "engine/population_kinds.h"
#include "engine/selection.h"
#include "engine/surrogate.h"

namespace evo {
namespace {

// Points drawn at random before the surrogate chooses. With fewer its models are mostly prior; more would be chosen better by it.
constexpr std::size_t kFirstPoints = 10;
// Attempts to breed a child that exists and was not evaluated, before a point is drawn at random instead. After every
// kTriesPerChange attempts children may change one parameter more.
constexpr int kBreedTries = 60, kTriesPerChange = 12;
// If more points than kSample are left, the surrogate ranks a sample of this size and kNeighbours draws from the neighbourhood of
// each of the kCentres fastest.
constexpr std::size_t kSample = 1500, kCentres = 8;
constexpr int kNeighbours = 90;
// The greatest number of classes of a parameter in a map of elites, and the number of parameters that make up a cell.
constexpr int kClasses = 4;
constexpr std::size_t kCellParameters = 3;
// Separates the random stream of a search from other streams with the same seed.
constexpr std::uint64_t kSearchStream = 0x6c616e6473636170ULL;
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Names sort in the order of the levels.
Parameters ToParameters(const std::vector<int>& levels) {
  Parameters parameters;
  for (std::size_t d = 0; d < levels.size(); ++d) parameters[std::to_string(1'000'000 + d)] = levels[d];
  return parameters;
}

std::vector<int> ToLevels(const Genome& genome) {
  std::vector<int> levels;
  for (const auto& [name, level] : genome.parameters) levels.push_back(static_cast<int>(level));
  return levels;
}

class Search {
 public:
  Search(const Landscape& landscape, const LandscapeSearchOptions& options)
      : landscape_(landscape),
        options_(options),
        rng_(options.seed, kSearchStream, 0),
        population_(MakePopulation(options.population_kind, static_cast<std::size_t>(options.population),
                                   [this](const Candidate& candidate, const Evaluation&) { return CellOf(candidate.genome); })),
        surrogate_(landscape.Kinds(), options.seed),
        unseen_(landscape.size()),
        place_(landscape.size()) {
    std::iota(unseen_.begin(), unseen_.end(), std::size_t{0});
    std::iota(place_.begin(), place_.end(), std::size_t{0});
  }

  std::vector<std::size_t> Run() {
    const std::size_t wanted = std::min(static_cast<std::size_t>(options_.evaluations), landscape_.size());
    bool found = false;
    while (order_.size() < wanted && !(found && options_.stop_at_optimum)) {
      const std::size_t point = Choose();
      Evaluate(point);
      found = found || landscape_.scores[point] == landscape_.optimum;
    }
    return order_;
  }

 private:
  std::size_t Choose() {
    const std::size_t first = options_.surrogate ? kFirstPoints : static_cast<std::size_t>(options_.population);
    if (options_.random || order_.size() < first || population_->members().empty()) return AtRandom();
    if (options_.surrogate) {
      surrogate_.Fit();
      if (rng_.Chance(SurrogateShare(surrogate_.trust()))) return MostPromising();
    }
    return Bred();
  }

  std::size_t AtRandom() { return unseen_[rng_.Below(unseen_.size())]; }

  std::size_t MostPromising() {
    std::vector<std::size_t> pool = unseen_;
    if (pool.size() > kSample) {
      for (std::size_t i = 0; i < kSample; ++i) std::swap(pool[i], pool[i + rng_.Below(pool.size() - i)]);
      pool.resize(kSample);
      AddNeighbours(pool);
    }
    std::sort(pool.begin(), pool.end());
    pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
    std::vector<Features> points;
    for (const std::size_t point : pool) points.push_back(landscape_.At(point));
    return pool[surrogate_.MostPromising(points, 1).front()];
  }

  // Adds points that differ from the fastest in one to three parameters.
  void AddNeighbours(std::vector<std::size_t>& pool) {
    const std::vector<Individual>& members = population_->members();
    for (std::size_t i = 0; i < std::min(kCentres, members.size()); ++i) {
      const std::vector<int> centre = ToLevels(members[i].candidate.genome);
      for (int draw = 0; draw < kNeighbours; ++draw) {
        std::vector<int> levels = centre;
        for (int change = 0; change <= draw % 3; ++change) Change(levels);
        if (const auto point = Unseen(levels)) pool.push_back(*point);
      }
    }
  }

  // Half of the children have two parents. All have one or two parameters changed, later attempts more.
  std::size_t Bred() {
    const auto children = static_cast<std::size_t>(options_.children);
    const std::size_t generation = order_.size() / children, index = order_.size() % children;
    for (int attempt = 0; attempt < kBreedTries; ++attempt) {
      const Parents parents =
          SelectParents(population_->Mates(index), population_->TournamentSize(), rng_.Next(), generation, index);
      std::vector<int> child = ToLevels(parents.genomes[0]);
      if (parents.genomes.size() > 1 && rng_.Chance(0.5)) {
        const std::vector<int> other = ToLevels(parents.genomes[1]);
        for (std::size_t d = 0; d < child.size(); ++d) child[d] = rng_.Chance(0.5) ? other[d] : child[d];
      }
      const auto changes = 1 + rng_.Below(std::uint64_t{2} + static_cast<std::uint64_t>(attempt) / kTriesPerChange);
      for (std::uint64_t change = 0; change < changes; ++change) Change(child);
      if (const auto point = Unseen(child)) return *point;
    }
    return AtRandom();
  }

  // Sets one parameter to any value. A landscape without parameters has only one point, which has no child.
  void Change(std::vector<int>& levels) {
    if (levels.empty()) return;
    const std::size_t d = rng_.Below(levels.size());
    levels[d] = static_cast<int>(rng_.Below(landscape_.parameters[d].values.size()));
  }

  std::optional<std::size_t> Unseen(const std::vector<int>& levels) const {
    const auto found = landscape_.index.find(levels);
    if (found == landscape_.index.end() || place_[found->second] == kNowhere) return std::nullopt;
    return found->second;
  }

  Cell CellOf(const Genome& genome) const {
    const std::vector<int> levels = ToLevels(genome);
    Cell cell{};
    for (std::size_t d = 0; d < std::min(kCellParameters, levels.size()); ++d) {
      const int count = static_cast<int>(landscape_.parameters[d].values.size());
      cell[d] = count <= kClasses ? levels[d] : levels[d] * kClasses / count;
    }
    return cell;
  }

  void Evaluate(std::size_t point) {
    const double score = landscape_.scores[point];
    const auto number = static_cast<int>(order_.size());
    Candidate candidate;
    candidate.id = number + 1;
    candidate.generation = number / options_.children;
    candidate.index = number % options_.children;
    candidate.genome.parameters = ToParameters(landscape_.levels[point]);
    Evaluation evaluation;
    evaluation.outcome = std::isnan(score) ? Outcome::kLaunchError : Outcome::kOk;
    evaluation.score_ns = score;
    evaluation.program_digest = std::to_string(point);
    population_->Survive({candidate}, {evaluation});
    surrogate_.Learn(landscape_.At(point), std::isnan(score) ? std::nullopt : std::optional(score));
    order_.push_back(point);
    // The last unseen point moves to the place of this one.
    const std::size_t place = place_[point];
    unseen_[place] = unseen_.back();
    place_[unseen_[place]] = place;
    unseen_.pop_back();
    place_[point] = kNowhere;
  }

  const Landscape& landscape_;
  const LandscapeSearchOptions& options_;
  Rng rng_;
  std::unique_ptr<Population> population_;
  Surrogate surrogate_;
  std::vector<std::size_t> order_;   // evaluated
  std::vector<std::size_t> unseen_;  // not evaluated, in no order
  std::vector<std::size_t> place_;   // of each point in unseen_, or kNowhere
};

}  // namespace

std::vector<std::size_t> SearchLandscape(const Landscape& landscape, const LandscapeSearchOptions& options) {
  return Search(landscape, options).Run();
}

double BestOf(const Landscape& landscape, const std::vector<std::size_t>& order, std::size_t evaluations) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(evaluations, order.size()); ++i) {
    if (landscape.scores[order[i]] < best) best = landscape.scores[order[i]];
  }
  return best;
}

}  // namespace evo
