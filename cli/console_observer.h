#pragma once

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
  void Show(const Progress& progress, bool end_of_generation);
  void EndLive();

  std::FILE* out_;
  int evaluations_;
  bool terminal_;
  bool live_ = false;
  Progress last_;
  std::map<std::string, int> outcomes_;
};

// "842 ns", "4.64 us", "12.3 ms".
std::string FormatDuration(double nanoseconds);

}  // namespace evo
