#include "cli/landscape_run.h"

#include <cmath>
#include <deque>
#include <map>
#include <memory>

#include "cli/operator_choice.h"
#include "core/digest.h"
#include "core/rng.h"
#include "engine/evolution.h"
#include "engine/population_kinds.h"
#include "mutators/breeding/setting_breeder.h"
#include "mutators/genetic/crossover.h"

namespace evo {
namespace {

constexpr const char* kTemplate = "landscape";
// Separates the draw of the first point from the other random streams with the same seed.
constexpr std::uint64_t kStartStream = 0x73746172746174ULL;

// The points of a landscape as parameter settings: whole numbers stand for themselves, other values for their place in the list.
class Settings {
 public:
  explicit Settings(const Landscape& landscape) : landscape_(landscape) {
    for (std::size_t d = 0; d < landscape.parameters.size(); ++d) {
      const LandscapeParameter& declared = landscape.parameters[d];
      Parameter& parameter = space_.parameters.emplace_back();
      parameter.name = std::to_string(1'000'000 + d);  // which sorts as the levels do
      if (const auto whole = WholeValues(declared)) {
        parameter.values = *whole;
      } else {
        for (std::size_t i = 0; i < declared.values.size(); ++i) parameter.values.push_back(static_cast<std::int64_t>(i));
      }
      parameter.initial = parameter.values.front();
      auto& levels = levels_.emplace_back();
      for (std::size_t i = 0; i < parameter.values.size(); ++i) levels[parameter.values[i]] = static_cast<int>(i);
    }
  }

  const SearchSpace& space() const { return space_; }

  Parameters At(std::size_t point) const {
    Parameters setting;
    for (std::size_t d = 0; d < space_.parameters.size(); ++d) {
      const Parameter& parameter = space_.parameters[d];
      setting[parameter.name] = parameter.values[static_cast<std::size_t>(landscape_.levels[point][d])];
    }
    return setting;
  }

  std::optional<std::size_t> Find(const Parameters& setting) const {
    std::vector<int> levels;
    for (const auto& [name, value] : setting) levels.push_back(levels_[levels.size()].at(value));
    const auto found = landscape_.index.find(levels);
    return found == landscape_.index.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const Landscape& landscape_;
  SearchSpace space_;
  std::vector<std::map<std::int64_t, int>> levels_;  // of each parameter, by value
};

// Looks scores up.
class LandscapeEvaluator : public Evaluator {
 public:
  LandscapeEvaluator(const Landscape& landscape, const Settings& settings, bool stop_at_optimum)
      : landscape_(landscape), settings_(settings), stop_at_optimum_(stop_at_optimum) {}

  void Start(std::vector<Candidate> batch) override { batches_.push_back(std::move(batch)); }

  std::vector<Evaluation> Finish(std::stop_token stop, const Each& each) override {
    const std::vector<Candidate> batch = std::move(batches_.front());
    batches_.pop_front();
    std::vector<Evaluation> evaluations;
    for (const Candidate& candidate : batch) {
      evaluations.push_back(stop.stop_requested() ? Evaluation() : Evaluate(candidate));
      if (!stop.stop_requested() && each) each(candidate, evaluations.back());
    }
    return evaluations;
  }

  ChampionCheck CheckAnswers(const Candidate&, const Candidate&, const CheckEffort&, std::stop_token) override { return {}; }
  void RunTools(const Candidate&, ChampionCheck&, std::stop_token) override {}

  const std::vector<std::size_t>& order() const { return order_; }
  std::stop_token found_optimum() const { return found_.get_token(); }

 private:
  Evaluation Evaluate(const Candidate& candidate) {
    const std::size_t point = *settings_.Find(candidate.genome.parameters);
    order_.push_back(point);
    const double score = landscape_.scores[point];
    if (stop_at_optimum_ && score == landscape_.optimum) found_.request_stop();
    Evaluation evaluation;
    evaluation.source_digest = Digest(candidate.source);
    evaluation.program_digest = std::to_string(point);
    evaluation.outcome = std::isnan(score) ? Outcome::kLaunchError : Outcome::kOk;
    evaluation.score_ns = score;
    CaseMeasurement& measured = evaluation.cases.emplace_back();
    measured.name = kTemplate;
    measured.median_ns = score;
    measured.tick_ns = 0;  // landscapes are exact
    return evaluation;
  }

  const Landscape& landscape_;
  const Settings& settings_;
  const bool stop_at_optimum_;
  std::deque<std::vector<Candidate>> batches_;
  std::vector<std::size_t> order_;
  std::stop_source found_;
};

// Nothing of a study is kept or shown while it runs.
class NoStore : public Store {
 public:
  RunId BeginRun(const RunRecord&) override { return 0; }
  void RecordGeneration(RunId, const GenerationRecord&) override {}
  void RecordChampion(RunId, CandidateId, const ChampionCheck&) override {}
  void RecordMinimised(RunId, CandidateId, CandidateId, const std::vector<CandidateId>&) override {}
  void EndRun(RunId, RunStatus, const std::string&) override {}
  std::vector<GenerationRecord> LoadGenerations(RunId) override { return {}; }
};

class NoObserver : public Observer {
 public:
  void OnStarted(const RunRecord&, bool) override {}
  void OnEvaluated(const Candidate&, const Evaluation&, const Progress&) override {}
  void OnGeneration(const Progress&) override {}
  void OnChampion(const Candidate&, const ChampionCheck&) override {}
  void OnFinished(RunStatus, const Progress&) override {}
};

std::size_t OkPoint(const Landscape& landscape, std::uint64_t seed) {
  Rng rng(seed, kStartStream, 0);
  while (true) {
    const std::size_t point = rng.Below(landscape.size());
    if (!std::isnan(landscape.scores[point])) return point;
  }
}

}  // namespace

std::vector<std::size_t> SearchAsRun(const Landscape& landscape, const LandscapeSearchOptions& options) {
  const Settings settings(landscape);
  SettingBreeder breeder(settings.space(), [&](const Parameters& setting) { return settings.Find(setting).has_value(); });
  LandscapeEvaluator evaluator(landscape, settings, options.stop_at_optimum);
  NoStore store;
  NoObserver observer;
  EvolutionSettings evolution;
  evolution.run.population_kind = options.population_kind;
  evolution.run.seed = options.seed;
  evolution.run.generations = kUnlimitedGenerations;
  evolution.run.population = options.population;
  evolution.run.children = options.children;
  evolution.run.operators = ChooseOperators({"parameters", std::string(kCrossover)}, {});
  evolution.run.baseline = kTemplate;
  evolution.seeds = {{kTemplate, {}, settings.At(OkPoint(landscape, options.seed)), {}}};
  evolution.check_champion = false;
  evolution.early_children = options.early_children;
  const bool learns = options.population_kind != "random";
  const auto selection = learns ? std::make_unique<OperatorSelection>(evolution.run.operators) : nullptr;
  std::vector<std::string> operators;
  for (const auto& [name, weight] : evolution.run.operators) operators.push_back(name);
  const auto ranker =
      learns && options.surrogate ? std::make_unique<ChildRanker>(evolution.seeds, operators, options.seed) : nullptr;
  const std::unique_ptr<ChildChoice> choice = MakeChoice(ranker.get());
  const std::unique_ptr<Population> population =
      MakePopulation(options.population_kind, static_cast<std::size_t>(options.population));
  Evolution(evolution, {breeder, evaluator, store, observer, *population, *choice, selection.get()})
      .Run(StopCondition(kUnlimitedGenerations, {}, evaluator.found_optimum(), options.evaluations));
  return evaluator.order();
}

}  // namespace evo
