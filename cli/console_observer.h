#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "core/observer.h"

namespace evo {

// The latest candidate that was faster than all before it.
struct LatestImprovement {
  CandidateId candidate = 0;  // 0: none yet
  std::string op;
  double gain = kNoValue;  // time of the fastest before over its own
  double at_seconds = 0;   // on the clock of Progress::seconds
};

// Shows a run on standard error: a live line on a terminal, with a second one below it where that is wide; one plain line for
// each generation otherwise.
class ConsoleObserver : public Observer {
 public:
  // What the workers do, in a few words; asked for on the thread that runs. Null: not known.
  using Workers = std::function<std::string()>;
  // `evaluations`: after how many the run ends; 0 if that is not limited.
  ConsoleObserver(std::FILE* out, int evaluations, Workers workers = nullptr);
  void OnStarted(const RunRecord& run, bool resumed) override;
  void OnEvaluated(const Candidate& candidate, const Evaluation& evaluation, const Progress& progress) override;
  void OnGeneration(const Progress& progress) override;
  void OnChampion(const Candidate& champion, const ChampionCheck& check) override;
  void OnFinished(RunStatus status, const Progress& progress) override;

 private:
  // What was evaluated of the generation that is under way.
  struct UnderWay {
    int generation = 0;
    int evaluated = 0;
    CandidateId fastest = 0;
    double ns = kNoValue;
  };
  void Show(bool end_of_generation);
  void ShowLive();
  void EndLive();
  void KeepFastest(const Progress& before);
  void SayWhatWasDropped(const Progress& progress) const;

  std::FILE* out_;
  int evaluations_;
  Workers workers_;
  bool terminal_;
  bool live_ = false;
  Progress last_;
  UnderWay under_way_;
  LatestImprovement improvement_;
  std::map<std::string, int> outcomes_;
};

// The line of a run under way, of at most `width` bytes as far as that is possible: the generation, the fastest kernel so far and
// the time left are always there, other parts as long as there is room.
std::string ProgressLine(const Progress& progress, std::size_t width);

// The line below it, of at most `width` bytes: what the workers do and which candidate was the last improvement, how long ago.
// The latter goes first where there is no room. Empty if there is nothing to say.
std::string DetailLine(const std::string& workers, const LatestImprovement& improvement, double seconds, std::size_t width);

// "842 ns", "4.64 us", "12.3 ms".
std::string FormatDuration(double nanoseconds);

}  // namespace evo
