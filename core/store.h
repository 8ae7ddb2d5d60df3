#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/evaluator.h"

namespace evo {

using RunId = std::int64_t;

// Generations of a run that ends by its evaluations.
inline constexpr int kUnlimitedGenerations = 1'000'000;

struct TemplateText {
  std::string name;
  std::string digest;
  std::string text;
};

// What defines a run. Stored when it starts; only generations may change when it is resumed, which then decides as before.
struct RunRecord {
  RunId id = 0;                         // given by the store
  std::string task;                     // task name
  std::string task_directory;           // where it was loaded from, for messages and resume
  std::string task_digest;              // Digest() of task.json and reference.cu
  std::vector<TemplateText> templates;  // those that take part
  std::string baseline;                 // template name
  std::string device;                   // "cpu" or "cuda"
  std::string device_name;
  std::string arch;             // "sm_90a": what candidates are compiled for
  std::string l2;               // "hot" or "cold"
  std::string arithmetic;       // dtype of the task's first input: by its ceiling a share of arithmetic is measured
  std::string population_kind;  // "elitist", "islands", "map-elites" or "random"
  std::uint64_t seed = 0;
  int generations = 0;  // asked for
  int population = 0;
  int children = 0;
  std::map<std::string, double> operators;  // weights in force
  std::string options;                      // JSON: everything else the command line said
  std::string tool_version;
};

// One generation as evaluated; candidates[i] has evaluations[i].
struct GenerationRecord {
  int generation = 0;
  std::vector<Candidate> candidates;
  std::vector<Evaluation> evaluations;
  int duplicates = 0;                       // children dropped because they, or what they change, had been seen
  std::map<std::string, int> inapplicable;  // times each operator was drawn and did not apply
};

enum class RunStatus { kRunning, kFinished, kInterrupted, kFailed };

// Keeps runs. Each call is one transaction. Throws Error when the storage fails (disk full, locked, not a database, newer).
class Store {
 public:
  virtual ~Store() = default;
  virtual RunId BeginRun(const RunRecord& run) = 0;
  virtual void RecordGeneration(RunId run, const GenerationRecord& generation) = 0;
  virtual void RecordChampion(RunId run, CandidateId candidate, const ChampionCheck& check) = 0;
  // `candidate` is what is left of `champion` without the edits that it does not need (the champion itself if it needs them all);
  // without[i] is the candidate that lacks its edit i, 0 if there is none. The latest such form of a champion counts.
  virtual void RecordMinimised(RunId run, CandidateId champion, CandidateId candidate,
                               const std::vector<CandidateId>& without) = 0;
  virtual void EndRun(RunId run, RunStatus status, const std::string& message) = 0;
  // In order; candidates come without their source. For resume.
  virtual std::vector<GenerationRecord> LoadGenerations(RunId run) = 0;
};

}  // namespace evo
