#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/breeder.h"
#include "core/evaluator.h"
#include "core/observer.h"
#include "core/store.h"

namespace evo::testing {

// A world in which a kernel is one number: parameter x in [0, kRange). Its time falls towards x = kOptimum. Multiples of 13 are
// wrong and multiples of 17 crash. If x is divisible by 10, x and x + 1 compile to the same image.
inline constexpr std::int64_t kRange = 400;
inline constexpr std::int64_t kOptimum = 281;
inline constexpr std::int64_t kStart = 21;

Genome GenomeAt(std::int64_t x);
// With edits of these names, which have no effect unless a test gives them one. `needs` maps an edit to another without which it
// is dropped. Children keep none of the edits.
Genome EditedAt(std::int64_t x, const std::vector<std::string>& edits, const std::map<std::string, std::string>& needs = {});
std::string SourceAt(std::int64_t x);
std::int64_t ValueOf(const Genome& genome);
Evaluation EvaluationAt(std::int64_t x);
RunRecord FakeRun();

// Steps away from the first parent, or takes the middle between two parents. A function of the request alone.
class FakeBreeder : public Breeder {
 public:
  std::vector<BredChild> Breed(std::vector<BreedRequest> requests, std::stop_token stop) override;

  std::function<void(const BreedRequest&, BredChild&)> change;  // changes each child, if given
  std::set<std::uint64_t> childless;                            // generations in which no operator applies
  std::vector<std::vector<BreedRequest>> batches;               // every batch of requests for children
};

class FakeEvaluator : public Evaluator {
 public:
  void Start(std::vector<Candidate> batch) override;
  std::vector<Evaluation> Finish(std::stop_token stop, const Each& each) override;
  ChampionCheck CheckAnswers(const Candidate& candidate, const Candidate& baseline, const CheckEffort& effort,
                             std::stop_token stop) override;
  void RunTools(const Candidate& candidate, ChampionCheck& check, std::stop_token stop) override;
  std::vector<CountedElite> Count(const std::vector<Candidate>& elites, int generation) override {
    return count ? count(elites, generation) : std::vector<CountedElite>();
  }

  std::function<Evaluation(const Candidate&)> evaluate = [](const Candidate& c) { return EvaluationAt(ValueOf(c.genome)); };
  std::function<ChampionCheck(const Candidate&)> check;  // empty: everything passes
  std::function<void(int evaluated)> on_evaluated;       // called after each with the number so far
  std::function<ToolResult(const Candidate&)> tool;      // empty: there are no tools
  std::function<std::vector<CountedElite>(const std::vector<Candidate>&, int generation)> count;  // empty: nothing is counted
  std::vector<Candidate> checked;
  std::vector<CheckEffort> efforts;  // of each of them
  std::vector<CandidateId> seen_by_tools;
  int evaluated = 0;

 private:
  std::deque<std::vector<Candidate>> batches_;
};

class MemoryStore : public Store {
 public:
  RunId BeginRun(const RunRecord& run) override;
  void RecordGeneration(RunId run, const GenerationRecord& generation) override;
  void RecordChampion(RunId run, CandidateId candidate, const ChampionCheck& check) override;
  void RecordMinimised(RunId run, CandidateId champion, CandidateId candidate, const std::vector<CandidateId>& without) override;
  void EndRun(RunId run, RunStatus status, const std::string& message) override;
  std::vector<GenerationRecord> LoadGenerations(RunId run) override;

  std::vector<GenerationRecord> generations;
  std::vector<std::pair<CandidateId, ChampionCheck>> champions;
  struct MinimisedVariant {
    CandidateId champion = 0;
    CandidateId candidate = 0;
    std::vector<CandidateId> without;
  };
  std::vector<MinimisedVariant> minimised;
  RunStatus status = RunStatus::kRunning;
  std::string message;
  int ends = 0;
  int loads = 0;
};

class RecordingObserver : public Observer {
 public:
  void OnStarted(const RunRecord& run, bool resumed) override;
  void OnEvaluated(const Candidate& candidate, const Evaluation& evaluation, const Progress& progress) override;
  void OnGeneration(const Progress& progress) override;
  void OnChampion(const Candidate& champion, const ChampionCheck& check) override;
  void OnFinished(RunStatus status, const Progress& progress) override;

  std::vector<std::string> events;  // "started", "evaluated 1", "generation 2", "champion 7", "finished"
  std::vector<Progress> generations;
};

// One line per candidate and per generation, with everything that a resumed run must repeat.
std::string Spelled(const std::vector<GenerationRecord>& generations);

}  // namespace evo::testing
