#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <string>

#include "core/observer.h"

namespace evo {

// Shows a run on standard error: one live line on a terminal, one plain line for each generation otherwise.
class ConsoleObserver : public Observer {
 public:
  // `evaluations`: after how many the run ends; 0 if that is not limited.
  ConsoleObserver(std::FILE* out, int evaluations);
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
  void EndLive();
  void KeepFastest(const Progress& before);
  void SayWhatWasDropped(const Progress& progress) const;

  std::FILE* out_;
  int evaluations_;
  bool terminal_;
  bool live_ = false;
  Progress last_;
  UnderWay under_way_;
  std::map<std::string, int> outcomes_;
};

// The line of a run under way, of at most `width` bytes as far as that is possible: the generation, the fastest kernel so far and
// the time left are always there, other parts as long as there is room.
std::string ProgressLine(const Progress& progress, std::size_t width);

// "842 ns", "4.64 us", "12.3 ms".
std::string FormatDuration(double nanoseconds);

}  // namespace evo
