#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/expression.h"
#include "mutators/analysis/grid_runs/launch_sizes.h"
#include "mutators/analysis/thread_runs/thread_block.h"
#include "mutators/analysis/thread_runs/thread_run.h"
#include "mutators/mutator.h"

namespace evo {

// Runs threads of a kernel with numbers for the sizes that its launch line names, and watches one statement in them.
class LaunchRuns {
 public:
  using Sizes = std::map<std::string, std::int64_t>;
  // The launch with these sizes.
  struct Setting {
    Variables values;  // sizes and parameters
    std::map<int, std::int64_t> integers;
    std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::int64_t Threads() const { return grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]; }
    // What an expression of the launch line is.
    std::int64_t ValueOf(std::string_view text) const { return Expression::Parse(text).EvaluateInteger(values); }
  };

  // The arguments must outlive the object.
  LaunchRuns(const MutationContext& context, const LaunchDirective& launch, int kernel, int watched, std::set<int> noted);

  // Why the launch line gives no numbers; else empty.
  const std::string& refusal() const { return sizes_.refusal(); }
  // The sizes that the launch line names: those of the arguments first.
  const std::vector<std::string>& names() const { return sizes_.names(); }
  // The kernel's integers, and what the launch line passes for them.
  const std::vector<std::pair<int, Expression>>& arguments() const { return sizes_.arguments(); }
  // Sizes by which the grid has only whole blocks, `n / 16`, with the elements of a block there, which are its threads or several
  // times as many: in numbers, and as spelled.
  struct WholeBlocks {
    std::int64_t threads = 1;
    std::string text;
  };
  const std::map<std::string, WholeBlocks>& whole_blocks() const { return whole_blocks_; }
  // Whether the grid has the same number of blocks along an axis for all sizes.
  bool IsFixed(std::size_t axis) const;
  bool HasFixedGrid() const;  // along all axes
  // From now on the grid has at most so many blocks along such axes; 0: as the launch line says.
  void LimitGrid(std::int64_t most) { limits_.blocks = most; }
  // From now on these sizes are odd: an even one is the next.
  void RequireOdd(std::set<std::string> names) { limits_.odd = std::move(names); }
  // nullopt if the launch line passes what is no number, or has no threads.
  std::optional<Setting> SettingOf(const Sizes& sizes) const;
  // One thread, which has this number among all of the launch.
  ThreadTrace Run(const Setting& setting, std::int64_t thread, bool symbolic = false);
  // Whether the threads of a block are run together.
  bool together() const { return together_; }
  // From now on only addresses count (ThreadSetting::addresses), with the values of these counters. What these statements touch,
  // which bring elements into shared memory, is left out: what is read there counts as an access to the element.
  void KeepTouches(std::vector<int> counters, std::set<int> of_tile);
  // From now on threads that work together may take so many turns in all of a kernel's runs.
  void AllowTurns(std::int64_t most) { most_turns_ = most; }
  // From now on real numbers tell of what they are the sum.
  void TellSums() { given_.sums = true; }
  // From now on traces tell what this variable was assigned.
  void Follow(int variable) { given_.followed = variable; }
  // From now on these parameters point to these contents, which outlive the runs.
  void Provide(std::map<int, const BufferContents*> contents) { given_.contents = std::move(contents), last_.number = -1; }
  // From now on all elements of these buffers are these numbers.
  void Fill(std::map<int, double> elements) { given_.elements = std::move(elements), last_.number = -1; }
  // What all threads have from now on beside their place and the launch's integers.
  ThreadSetting& given() { return last_.number = -1, given_; }
  const ThreadRun& threads() const { return run_; }
  // What threadIdx and so on are in a thread, by symbol.
  static std::map<int, std::int64_t> BuiltinsOf(const Setting& setting, std::int64_t thread);

 private:
  const MutationContext& context_;
  const LaunchDirective& launch_;
  ThreadSetting given_;  // what all threads have
  ThreadRun run_;
  LaunchSizes sizes_;
  bool together_;  // whether the threads of a block have to run together
  // What the threads of one block did, which is the same until another block is asked for.
  struct Block {
    std::vector<ThreadTrace> traces;
    std::int64_t number = -1;
    bool symbolic = false;
    std::map<int, std::int64_t> integers;
    std::array<std::int64_t, 3> grid{}, block{};
  };
  Block last_;
  std::set<int> of_tile_;
  // A convolution whose rows of shared memory are found takes two million.
  std::int64_t most_turns_ = 5 << 19;
  struct Limits {
    std::int64_t blocks = 0;
    std::set<std::string> odd;
  };
  Limits limits_;
  std::map<std::string, WholeBlocks> whole_blocks_;
};

}  // namespace evo
