#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/attention/attention_guess.h"
#include "mutators/analysis/attention/derived_sizes.h"
#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/grid_runs/trial_sizes.h"

namespace evo {

inline constexpr const char* kNotWithOthers = "with other sizes, what its kernels leave is no attention";

// What the launches of a source may be as one attention: guesses that hold for two choices of sizes, and then for whatever else
// is asked.
class LaunchGuesses {
 public:
  // The context must outlive the object.
  explicit LaunchGuesses(const MutationContext& context) : context_(context), tree_(context.tree), runs_(context) {}

  // Finds them. If there are none, why() says it; empty: nobody would take the source for one.
  bool Find();
  const std::string& why() const { return why_; }
  // Whether some hold for another run, too; the others go.
  bool Holds(const LaunchTrial& plain);
  // After Find. The likely ones first.
  const std::vector<AttentionGuess>& all() const { return all_; }
  const MatrixSizes& sizes() const { return sizes_; }
  // The first and the second choice of sizes.
  LaunchRuns::Sizes Choice(std::size_t number) const { return Fit(sizes_.Choice(number)); }
  // Sizes that are powers of two where blocks have as many threads and halve them again and again: others make no sense.
  LaunchRuns::Sizes Fit(LaunchRuns::Sizes sizes) const;
  const std::vector<std::string>& outputs() const { return outputs_; }
  const ThreadTrace& knowledge() const { return knowledge_; }  // of all runs
  // Numbers that data was compared with, and whether such data was less, and more.
  const std::map<double, std::pair<bool, bool>>& compared() const { return compared_; }
  SourceRuns& runs() { return runs_; }
  const SourceRuns& runs() const { return runs_; }
  // Whether a fourth buffer says which keys count.
  bool hides() const { return extra_.integers; }
  bool has_extra() const { return !extra_.buffer.empty(); }
  // The trial with what is in the fourth buffer, if there is one.
  LaunchTrial With(LaunchTrial trial, HiddenKeys hidden = HiddenKeys::kSome) const;

 private:
  // What becomes of one choice of sizes.
  enum class Tried : std::uint8_t { kRefused, kNoMatrices, kNone, kNotTwice, kHolds };
  bool Refuse(std::string why);
  Tried Try();
  Tried TryIntegers(std::string buffer);  // by value: runs change what they know
  Tried TryAdded();
  Tried Confirm(const LaunchedRun& run, const LaunchTrial& trial);
  void AddUnitsOfVectors(std::vector<TrialSizes::Units>& units);
  bool ReadsMatrices(const LaunchedRun& run);
  void Learn(const LaunchedRun& run);
  void AddIfItHolds(AttentionGuess guess, const LaunchTrial& trial, const LaunchedRun& run, ScalesOfRun& scales);

  const MutationContext& context_;
  const SyntaxTree& tree_;
  SourceRuns runs_;
  MatrixSizes sizes_;
  std::vector<std::string> inputs_, outputs_;
  // A fourth buffer: what its elements are where they hide nothing and add nothing, and whether they are bool.
  struct Extra {
    std::string buffer;
    bool integers = false;
    double shown = 0;
    bool flags = false;
  };
  Extra extra_;
  std::vector<AttentionGuess> all_;
  ThreadTrace knowledge_;
  std::map<double, std::pair<bool, bool>> compared_;
  std::string why_;
};

}  // namespace evo
