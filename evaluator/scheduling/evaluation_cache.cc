#include "evaluator/scheduling/evaluation_cache.h"

#include <utility>

namespace evo {
namespace {

// An outcome that the machine caused, not the program, says nothing about the next time.
bool Final(Outcome outcome) { return outcome != Outcome::kCancelled && outcome != Outcome::kNoisy; }

Evaluation Shared(Evaluation evaluation, std::int64_t run, CandidateId candidate) {
  if (evaluation.shared_candidate == 0) {
    evaluation.shared_run = run;
    evaluation.shared_candidate = candidate;
  }
  evaluation.clocks = {};
  evaluation.reverification_runs = 0;
  return evaluation;
}

}  // namespace

EvaluationCache::EvaluationCache(std::vector<KnownEvaluation> known) {
  for (KnownEvaluation& one : known) {
    // A candidate's deadline depends on the templates of its run: another run might have waited longer.
    if (!Final(one.evaluation.outcome) || one.evaluation.outcome == Outcome::kTimeout) continue;
    const auto shared = std::make_shared<const Evaluation>(Shared(std::move(one.evaluation), one.run, one.candidate));
    // Of several measurements of a program the first is shared, as it was when they were made.
    if (!shared->program_digest.empty()) programs_.try_emplace(shared->program_digest, Entry{shared, {}});
    sources_.try_emplace(shared->source_digest, shared);
  }
}

const Evaluation* EvaluationCache::FindSource(const std::string& source_digest) const {
  const auto found = sources_.find(source_digest);
  return found == sources_.end() ? nullptr : found->second.get();
}

EvaluationCache::Claimed EvaluationCache::ClaimProgram(const std::string& program_digest, const Waiter& waiter, bool afresh) {
  const auto [place, inserted] = programs_.try_emplace(program_digest);
  Entry& entry = place->second;
  if (afresh && entry.known && entry.known->shared_run != 0) {
    entry = {};
    return {Claim::kYours};
  }
  if (inserted) return {Claim::kYours};
  if (entry.known) return {Claim::kKnown, entry.known.get()};
  entry.waiting.push_back(waiter);
  return {Claim::kWait};
}

EvaluationCache::Resolved EvaluationCache::ResolveWaiters(const std::string& program_digest, CandidateId candidate,
                                                          const Evaluation& evaluation) {
  const auto found = programs_.find(program_digest);
  if (found == programs_.end() || found->second.known) return {};
  Entry& entry = found->second;
  if (Final(evaluation.outcome)) {
    entry.known = std::make_shared<const Evaluation>(Shared(evaluation, 0, candidate));
    return {std::exchange(entry.waiting, {}), true};
  }
  if (entry.waiting.empty()) {
    programs_.erase(found);
    return {{}, false};
  }
  Waiter next = std::move(entry.waiting.front());
  entry.waiting.erase(entry.waiting.begin());
  return {{std::move(next)}, false};
}

}  // namespace evo
