#include "tests/engine/fakes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "core/digest.h"

namespace evo::testing {
namespace {

constexpr const char* kTemplate = "x";
constexpr std::int64_t kLargestStep = 30;

BredChild Child(std::int64_t x, const std::string& op) {
  BredChild child;
  child.genome = GenomeAt(x);
  child.op = op;
  child.source = SourceAt(x);
  return child;
}

// An edit with an anchor needs an earlier edit, the one that its anchor names.
BredChild Applied(const Genome& genome) {
  BredChild child = Child(ValueOf(genome), "");
  std::set<std::string> there;
  for (const Edit& edit : genome.edits) {
    if (!edit.anchors.empty() && !there.contains(edit.anchors[0].function)) {
      child.dropped.push_back(edit.op);
      continue;
    }
    there.insert(edit.op);
    child.genome->edits.push_back(edit);
    child.source += fmt::format("// {}\n", edit.op);
  }
  return child;
}

BredChild Bred(const BreedRequest& request) {
  const std::int64_t x = ValueOf(request.parents[0]);
  if (request.operators.empty()) {
    Genome genome = request.parents[0];
    genome.edits.insert(genome.edits.end(), request.alike.begin(), request.alike.end());
    return Applied(genome);
  }
  Rng rng(request.seed, request.generation, request.index);
  if (request.parents.size() > 1 && rng.Chance(0.2)) {
    BredChild child = Child((x + ValueOf(request.parents[1])) / 2, "crossover");
    child.used_second_parent = true;
    return child;
  }
  const auto step = static_cast<std::int64_t>(rng.Below(2 * kLargestStep + 1)) - kLargestStep;
  if (x + step >= 0 && x + step < kRange) return Child(x + step, "step");
  BredChild none;
  none.inapplicable = {"step"};
  none.failure = "out of range";
  return none;
}

}  // namespace

Genome GenomeAt(std::int64_t x) { return {kTemplate, Digest(kTemplate), {{"X", x}}, {}}; }
std::string SourceAt(std::int64_t x) { return fmt::format("// x = {}\n", x); }
Genome EditedAt(std::int64_t x, const std::vector<std::string>& edits, const std::map<std::string, std::string>& needs) {
  Genome genome = GenomeAt(x);
  for (const std::string& name : edits) {
    Edit& edit = genome.edits.emplace_back();
    edit.op = name;
    if (!needs.contains(name)) continue;
    edit.anchors.emplace_back();
    edit.anchors[0].function = needs.at(name);
  }
  return genome;
}
std::int64_t ValueOf(const Genome& genome) { return genome.parameters.at("X"); }

Evaluation EvaluationAt(std::int64_t x) {
  Evaluation e;
  e.source_digest = Digest(SourceAt(x));
  e.device = "cpu";
  e.l2 = "hot";
  if (x % 13 == 0 || x % 17 == 0) {
    e.outcome = x % 13 == 0 ? Outcome::kWrongResult : Outcome::kCrash;
    e.stage = Stage::kCheck;
    e.message = fmt::format("x = {} is bad", x);
    return e;
  }
  e.outcome = Outcome::kOk;
  e.stage = Stage::kTime;
  e.score_ns = 1000.0 + 10.0 * static_cast<double>(std::abs(x - kOptimum));
  e.program_digest = Digest(fmt::format("image {}", x % 10 == 1 ? x - 1 : x));
  CaseMeasurement measured;
  measured.name = "only";
  measured.median_ns = e.score_ns;
  e.cases = {measured};
  return e;
}

RunRecord FakeRun() {
  RunRecord run;
  run.task = "number";
  run.templates = {{kTemplate, Digest(kTemplate), kTemplate}};
  run.baseline = kTemplate;
  run.device = "cpu";
  run.l2 = "hot";
  run.population_kind = "elitist";
  run.seed = 7;
  run.generations = 12;
  run.population = 6;
  run.children = 8;
  run.operators = {{"step", 1.0}};
  run.options = "{}";
  return run;
}

std::vector<BredChild> FakeBreeder::Breed(std::vector<BreedRequest> requests, std::stop_token) {
  const auto breeds = [](const BreedRequest& request) { return !request.operators.empty(); };
  if (std::any_of(requests.begin(), requests.end(), breeds)) batches.push_back(requests);
  std::vector<BredChild> children;
  for (const BreedRequest& request : requests) {
    children.push_back(childless.contains(request.generation) ? BredChild{} : Bred(request));
    if (change && children.back().genome && !request.operators.empty()) change(request, children.back());
  }
  return children;
}

void FakeEvaluator::Start(std::vector<Candidate> batch) {
  batches_.push_back(std::move(batch));
  if (batches_.size() > 2) throw std::logic_error("more than two batches are under way");
}

std::vector<Evaluation> FakeEvaluator::Finish(std::stop_token stop, const Each& each) {
  std::vector<Evaluation> evaluations;
  const std::vector<Candidate> batch = std::move(batches_.front());
  batches_.pop_front();
  for (const Candidate& candidate : batch) {
    if (stop.stop_requested()) {
      evaluations.emplace_back();  // cancelled
      continue;
    }
    evaluations.push_back(evaluate(candidate));
    each(candidate, evaluations.back());
    ++evaluated;
    if (on_evaluated) on_evaluated(evaluated);
  }
  const bool cancelled =
      std::any_of(evaluations.begin(), evaluations.end(), [](const Evaluation& e) { return e.outcome == Outcome::kCancelled; });
  if (cancelled) batches_.clear();
  return evaluations;
}

ChampionCheck FakeEvaluator::CheckAnswers(const Candidate& candidate, const Candidate& baseline, const CheckEffort& effort,
                                          std::stop_token) {
  checked.push_back(candidate);
  efforts.push_back(effort);
  if (check) return check(candidate);
  ChampionCheck passed;
  passed.outcome = Outcome::kOk;
  passed.candidate_ns = EvaluationAt(ValueOf(candidate.genome)).score_ns;
  passed.baseline_ns = EvaluationAt(ValueOf(baseline.genome)).score_ns;
  passed.speedup = passed.baseline_ns / passed.candidate_ns;
  return passed;
}

void FakeEvaluator::RunTools(const Candidate& candidate, ChampionCheck& passed, std::stop_token) {
  seen_by_tools.push_back(candidate.id);
  if (!tool) return;
  passed.tools.push_back(tool(candidate));
  if (!FoundFault(passed.tools.back())) return;
  passed.outcome = Outcome::kNondeterministic;
  passed.message = passed.tools.back().message;
}

RunId MemoryStore::BeginRun(const RunRecord&) { return 1; }
void MemoryStore::RecordGeneration(RunId, const GenerationRecord& generation) { generations.push_back(generation); }

void MemoryStore::RecordChampion(RunId, CandidateId candidate, const ChampionCheck& check) {
  champions.emplace_back(candidate, check);
}

void MemoryStore::RecordMinimised(RunId, CandidateId champion, CandidateId candidate, const std::vector<CandidateId>& without) {
  minimised.push_back({champion, candidate, without});
}

void MemoryStore::EndRun(RunId, RunStatus ended, const std::string& why) {
  status = ended;
  message = why;
  ++ends;
}

std::vector<GenerationRecord> MemoryStore::LoadGenerations(RunId) {
  ++loads;
  std::vector<GenerationRecord> loaded = generations;
  for (GenerationRecord& generation : loaded) {
    for (Candidate& candidate : generation.candidates) candidate.source.clear();
  }
  return loaded;
}

void RecordingObserver::OnStarted(const RunRecord&, bool resumed) { events.emplace_back(resumed ? "resumed" : "started"); }

void RecordingObserver::OnEvaluated(const Candidate& candidate, const Evaluation&, const Progress&) {
  events.push_back(fmt::format("evaluated {}", candidate.id));
}

void RecordingObserver::OnGeneration(const Progress& progress) {
  events.push_back(fmt::format("generation {}", progress.generation));
  generations.push_back(progress);
}

void RecordingObserver::OnChampion(const Candidate& champion, const ChampionCheck&) {
  events.push_back(fmt::format("champion {}", champion.id));
}

void RecordingObserver::OnFinished(RunStatus, const Progress&) { events.emplace_back("finished"); }

std::string Spelled(const std::vector<GenerationRecord>& generations) {
  std::string out;
  for (const GenerationRecord& g : generations) {
    out += fmt::format("generation {}: {} duplicates, inapplicable {}\n", g.generation, g.duplicates, g.inapplicable);
    for (std::size_t i = 0; i < g.candidates.size(); ++i) {
      const Candidate& c = g.candidates[i];
      out += fmt::format("  {} at {} by {} from {}: {} -> {} {}\n", c.id, c.index, c.op, c.parents, ToCanonicalJson(c.genome),
                         ToString(g.evaluations[i].outcome), g.evaluations[i].score_ns);
    }
  }
  return out;
}

}  // namespace evo::testing
