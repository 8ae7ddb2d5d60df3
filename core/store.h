#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/counted_elite.h"
#include "core/evaluation.h"
#include "core/evaluator.h"
#include "core/record_fields.h"

namespace evo {

using RunId = std::int64_t;

// Number of generations of a run that is limited by its evaluations instead.
inline constexpr int kUnlimitedGenerations = 1'000'000;

struct TemplateText {
  std::string name;
  std::string digest;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(TemplateText, (), (name, digest, text))

// What defines a run. Stored when it starts; only generations may change when it is resumed, which then decides as before.
struct RunRecord {
  RunId id = 0;                         // given by the store
  std::string task;                     // task name
  std::string task_directory;           // where it was loaded from, for messages and resume
  std::string task_digest;              // Digest() of task.json and the reference
  std::vector<TemplateText> templates;  // the ones in use
  std::string baseline;                 // template name
  std::string device;                   // "cpu" or "cuda"
  std::string device_name;
  std::string arch;             // "sm_90a": what candidates are compiled for
  std::string l2;               // "hot" or "cold"
  std::string arithmetic;       // dtype of the task's first input; selects the arithmetic rate that candidates are compared with
  std::string population_kind;  // "elitist", "islands", "map-elites" or "random"
  std::uint64_t seed = 0;
  int generations = 0;  // requested
  int population = 0;
  int children = 0;
  std::map<std::string, double> operators;  // weights in force
  std::string options;                      // JSON: the rest of the command line
  std::string tool_version;
};
BOOST_DESCRIBE_STRUCT(RunRecord, (),
                      (id, task, task_directory, task_digest, templates, baseline, device, device_name, arch, l2, arithmetic,
                       population_kind, seed, generations, population, children, operators, options, tool_version))

// One evaluated generation; evaluations[i] belongs to candidates[i].
struct GenerationRecord {
  int generation = 0;
  std::vector<Candidate> candidates;
  std::vector<Evaluation> evaluations;
  int duplicates = 0;                       // children dropped because they, or their edit, had been seen before
  std::map<std::string, int> inapplicable;  // how often each operator was drawn and did not apply
  std::vector<CountedElite> counted{};  // while it was evaluated, of earlier generations; what is bred later follows their class
};

enum class RunStatus { kRunning, kFinished, kInterrupted, kFailed };

// Stores runs. Each call is one transaction. Throws Error when the storage fails (disk full, locked, not a database, newer).
class Store {
 public:
  virtual ~Store() = default;
  virtual RunId BeginRun(const RunRecord& run) = 0;
  virtual void RecordGeneration(RunId run, const GenerationRecord& generation) = 0;
  virtual void RecordChampion(RunId run, CandidateId candidate, const ChampionCheck& check) = 0;
  // `candidate` is `champion` without its removable edits, or the champion itself if none is removable. without[i] is the
  // candidate that lacks edit i of `candidate`; 0: none was tried. The latest call for a champion counts.
  virtual void RecordMinimised(RunId run, CandidateId champion, CandidateId candidate,
                               const std::vector<CandidateId>& without) = 0;
  virtual void EndRun(RunId run, RunStatus status, const std::string& message) = 0;
  // In order, for resuming a run. Candidates have no source.
  virtual std::vector<GenerationRecord> LoadGenerations(RunId run) = 0;
};

}  // namespace evo
