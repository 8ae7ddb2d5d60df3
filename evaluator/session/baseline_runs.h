#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/workers/announced_run.h"

namespace evo {

// Tells the coordinator on which sizes and inputs the baseline is about to run, so that no candidate is charged with its death
// there, and knows those that are not tried again. For one job at a time.
class BaselineRuns {
 public:
  using Announce = std::function<void(const AnnouncedRun&)>;

  // A job begins. `announce` must stay callable until the next one.
  void Start(Announce announce, const std::vector<AvoidedInputs>& avoided);
  // Why these are not tried; nullopt if they are.
  std::optional<std::string> Avoided(const Counterexample& on) const;

  // While it lives, the baseline or the reference runs; afterwards the candidate does, on the same inputs. An exception leaves it
  // as it is: the baseline has failed.
  class Running {
   public:
    Running(const BaselineRuns& runs, const Counterexample& on, bool large = false);
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running();
    // How long the baseline itself took.
    void Took(double ms) { run_.baseline_ms = ms; }

   private:
    const BaselineRuns& runs_;
    AnnouncedRun run_;
    int exceptions_;
  };

 private:
  Announce announce_ = [](const AnnouncedRun&) {};
  std::map<std::pair<std::string, std::string>, std::string> avoided_;  // by case and input program
};

}  // namespace evo
