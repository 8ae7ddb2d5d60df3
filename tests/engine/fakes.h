#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/breeder.h"
#include "core/digest.h"
#include "core/evaluator.h"
#include "core/observer.h"
#include "core/rng.h"
#include "core/store.h"

namespace evo {

// The outside world of the engine: a kernel is one parameter x in 0..199, its source says so, and 137 is the fastest.
inline Genome GenomeOf(std::int64_t x) { return {"line", "digest", {{"x", x}}, {}}; }

class FakeBreeder : public Breeder {
 public:
  void Start(std::vector<BreedRequest> requests) override {
    for (const BreedRequest& request : requests) seen.push_back(request);
    requests_ = std::move(requests);
  }
  std::vector<BredChild> Finish(std::stop_token) override {
    std::vector<BredChild> children;
    for (const BreedRequest& request : requests_) {
      Rng rng(request.seed, request.generation, request.index);
      std::int64_t x = request.parents.front().parameters.at("x");
      BredChild child;
      if (!request.operators.empty()) {
        x = std::clamp<std::int64_t>(x + static_cast<std::int64_t>(rng.Below(41)) - 20, 0, 199);
        child.op = "step";
        if (rng.Chance(0.1)) child.inapplicable = {"never"};
      }
      child.genome = GenomeOf(x);
      child.source = fmt::format("x = {}", x);
      children.push_back(std::move(child));
    }
    return children;
  }
  std::vector<BreedRequest> seen;

 private:
  std::vector<BreedRequest> requests_;
};

class FakeEvaluator : public Evaluator {
 public:
  void Start(std::vector<Candidate> batch) override { batch_ = std::move(batch); }
  std::vector<Evaluation> Finish(std::stop_token stop, const Each& each) override {
    std::vector<Evaluation> evaluations;
    for (const Candidate& candidate : batch_) {
      Evaluation evaluation;
      evaluation.source_digest = Digest(candidate.source);
      if (before_each) before_each(candidate);
      if (!stop.stop_requested()) {
        evaluation = Judge(candidate);
        ++evaluated;
        if (each) each(candidate, evaluation);
      }
      evaluations.push_back(std::move(evaluation));
    }
    return evaluations;
  }
  ChampionCheck CheckChampion(const Candidate& candidate, const Candidate&, std::stop_token) override {
    checked.push_back(candidate);
    ChampionCheck check;
    check.outcome = fails_held_out.count(candidate.genome.parameters.at("x")) != 0 ? Outcome::kWrongResult : Outcome::kOk;
    check.speedup = 2;
    return check;
  }

  // Every seventh is wrong, and 50 computes what 51 does.
  Evaluation Judge(const Candidate& candidate) const {
    const std::int64_t x = candidate.genome.parameters.at("x");
    Evaluation evaluation;
    evaluation.source_digest = Digest(candidate.source);
    evaluation.stage = Stage::kCheck;
    if (x % 7 == 0 || x == broken) {
      evaluation.outcome = Outcome::kWrongResult;
      evaluation.message = "out by 0.5";
      return evaluation;
    }
    evaluation.outcome = Outcome::kOk;
    evaluation.stage = Stage::kTime;
    evaluation.score_ns = 1000 + 10 * std::abs(static_cast<double>(x - 137));
    evaluation.image_digest = fmt::format("image of {}", x == 50 ? 51 : x);
    return evaluation;
  }

  std::function<void(const Candidate&)> before_each;
  std::map<std::int64_t, bool> fails_held_out;
  std::int64_t broken = -1;
  std::vector<Candidate> checked;
  int evaluated = 0;

 private:
  std::vector<Candidate> batch_;
};

class FakeStore : public Store {
 public:
  RunId BeginRun(const RunRecord&) override { return 1; }
  void RecordGeneration(RunId, const GenerationRecord& generation) override { generations.push_back(generation); }
  void RecordChampion(RunId, CandidateId candidate, const ChampionCheck& check) override { champions.emplace_back(candidate, check.outcome); }
  void EndRun(RunId, RunStatus ended, const std::string& why) override {
    status = ended;
    message = why;
  }
  std::vector<GenerationRecord> LoadGenerations(RunId) override {
    std::vector<GenerationRecord> stored = generations;
    for (GenerationRecord& generation : stored) {
      for (Candidate& candidate : generation.candidates) candidate.source.clear();
    }
    return stored;
  }
  std::vector<GenerationRecord> generations;
  std::vector<std::pair<CandidateId, Outcome>> champions;
  RunStatus status = RunStatus::kRunning;
  std::string message;
};

class SilentObserver : public Observer {
 public:
  void OnStarted(const RunRecord&, bool was_resumed) override { resumed = was_resumed; }
  void OnEvaluated(const Candidate&, const Evaluation&, const Progress&) override { ++evaluated; }
  void OnGeneration(const Progress& progress) override { generations.push_back(progress); }
  void OnChampion(const Candidate& candidate, const ChampionCheck&) override { champion = candidate.id; }
  void OnFinished(RunStatus, const Progress& progress) override { last = progress; }
  bool resumed = false;
  int evaluated = 0;
  CandidateId champion = 0;
  std::vector<Progress> generations;
  Progress last;
};

}  // namespace evo
