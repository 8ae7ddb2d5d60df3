#include "db/damage.h"

#include <cmath>
#include <set>

namespace evo {
namespace {

std::string WrongTimes(const Evaluation& evaluation) {
  if (evaluation.outcome != Outcome::kOk) return "";
  const auto is_time = [](double nanoseconds) { return std::isfinite(nanoseconds) && nanoseconds > 0; };
  if (!is_time(evaluation.score_ns)) return fmt::format("its outcome is ok, and its score is {} ns", evaluation.score_ns);
  if (evaluation.cases.empty()) return "its outcome is ok, and its measurements are missing";
  for (const CaseMeasurement& measurement : evaluation.cases) {
    if (!is_time(measurement.median_ns))
      return fmt::format("its outcome is ok, and its median on case {} is {} ns", measurement.name, measurement.median_ns);
  }
  return "";
}

}  // namespace

std::string Describe(const std::string& database, const Damage& damage) {
  const std::string candidate = damage.candidate ? fmt::format(", candidate {}", *damage.candidate) : "";
  return fmt::format("{}: run {}{}: {}", database, damage.run, candidate, damage.what);
}

Error Damaged(const std::string& database, const Damage& damage) {
  return Error(Describe(database, damage) + "; go back to a copy of the database, or begin a new run");
}

std::optional<Damage> FindDamage(RunId run, const std::vector<GenerationRecord>& generations) {
  CandidateId last = 0;
  std::set<CandidateId> known;
  for (std::size_t g = 0; g < generations.size(); ++g) {
    const GenerationRecord& generation = generations[g];
    if (generation.generation != static_cast<int>(g)) return Damage{run, {}, fmt::format("its generation {} is missing", g)};
    if (g == 0 && generation.candidates.empty()) return Damage{run, {}, "its generation 0 has no candidates"};
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      const Candidate& candidate = generation.candidates[i];
      const auto damage = [&](std::string what) { return Damage{run, candidate.id, std::move(what)}; };
      if (candidate.id <= last) return damage(fmt::format("it comes after candidate {}", last));
      for (const CandidateId parent : candidate.parents) {
        if (!known.contains(parent)) return damage(fmt::format("no earlier candidate is its parent {}", parent));
      }
      if (std::string wrong = WrongTimes(generation.evaluations[i]); !wrong.empty()) return damage(std::move(wrong));
      last = candidate.id;
      known.insert(candidate.id);
    }
  }
  return std::nullopt;
}

}  // namespace evo
