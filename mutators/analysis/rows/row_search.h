#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/grid_runs/trial_sizes.h"
#include "mutators/analysis/rows/row_candidates.h"
#include "mutators/analysis/thread_runs/thread_trace.h"
#include "mutators/mutator.h"

namespace evo {

inline constexpr const char* kNoRows = "what its kernels leave is no softmax, norm, sum, extreme or loss of rows that is known";

// Finds forms of rows of a matrix that all launches of a source leave with some sizes, by running them on numbers.
class RowSearch {
 public:
  // The context must outlive the object.
  explicit RowSearch(const MutationContext& context) : context_(context), tree_(context.tree), runs_(context), sizes_({}, {}) {}

  // Whether some forms are left with two choices of sizes. If not, why() says the reason where somebody may ask.
  bool Find();
  // The launches with these sizes, labels below two and real numbers that are no two the same.
  LaunchTrial Trial(const LaunchRuns::Sizes& sizes) const;
  // Whether some of the forms are also what is left then; the others go.
  bool StillHolds(const LaunchTrial& trial, const std::string& why);

  SourceRuns& runs() { return runs_; }
  const SourceRuns& runs() const { return runs_; }
  const TrialSizes& sizes() const { return sizes_; }
  const RowCandidates& guess() const { return guess_; }
  // What the threads of all runs named, and with what they compared numbers that they computed.
  const ThreadTrace& knowledge() const { return seen_.knowledge; }
  const std::map<double, std::pair<bool, bool>>& compared() const { return seen_.compared; }
  const std::string& why() const { return why_; }
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

 private:
  bool DescribeBuffers();
  bool FindFirst();
  std::vector<RowCandidates> GuessesOf(const LaunchRuns::Sizes& sizes, const LaunchedRun& run) const;
  bool Holds(RowCandidates& guess, const LaunchTrial& trial, const LaunchedRun& run) const;
  bool HoldsFor(RowCandidates& guess, const LaunchTrial& trial);
  void Learn(const LaunchedRun& run);

  const MutationContext& context_;
  const SyntaxTree& tree_;
  SourceRuns runs_;
  TrialSizes sizes_;
  std::map<std::string, std::string> types_;  // by buffer
  std::set<std::string> integers_;
  std::map<std::string, double> reals_;
  struct Seen {
    ThreadTrace knowledge;
    std::map<double, std::pair<bool, bool>> compared;
  };
  Seen seen_;
  RowCandidates guess_;
  std::string why_;
};

}  // namespace evo
