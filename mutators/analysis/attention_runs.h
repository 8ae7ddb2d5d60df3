#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/attention_check.h"
#include "mutators/analysis/launch_sizes.h"
#include "mutators/analysis/thread_run.h"
#include "mutators/mutator.h"

namespace evo {

// The variable `blockIdx.a * size + threadIdx.b` of a kernel, with its axes.
struct RowIndex {
  int declaration = -1;
  std::size_t axis = 0;
  std::size_t block_axis = 0;
};

// Runs threads of a kernel with numbers for the sizes that its launch line passes. There are two settings, 0 and 1, in which all
// sizes are from 5 to 13 and no two are the same.
class AttentionRuns {
 public:
  // The arguments must outlive the object.
  AttentionRuns(const MutationContext& context, const LaunchDirective& launch, int kernel, const RowIndex& row);

  // Why the launch line gives no numbers; else empty.
  const std::string& refusal() const { return refusal_; }
  // One thread, with forms.
  ThreadTrace Run(std::size_t number, std::int64_t row);
  // One thread, without forms; these sizes have another value.
  ThreadTrace RunWith(std::size_t number, std::int64_t row, const std::set<std::string>& names, std::int64_t size);
  // The first row that stores nothing; nullopt if all do.
  std::optional<std::int64_t> RowsOf(std::size_t number);
  // The sizes that decide, in the first setting, that `rows` is the first row without work or that `row` reads so many keys.
  std::set<std::string> Driving(std::int64_t rows, std::int64_t row, const AttentionRoles& roles, std::int64_t keys);

  // Conditions on which the kernel returns at once, in all threads or in none.
  const std::vector<int>& guards() const { return guards_; }
  // Whether these conditions let a parameter have one value only.
  bool IsPinned(int parameter) const { return pinned_.contains(parameter); }
  const ThreadRun& threads() const { return run_; }

 private:
  void FindPinned();
  void Pin(int condition);
  void FindFixed();
  std::optional<ThreadSetting> SettingOf(std::size_t number, std::int64_t row, const std::set<std::string>& changed,
                                         std::int64_t to);

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  RowIndex row_;
  ThreadRun run_;
  LaunchSizes sizes_;
  std::string refusal_;
  std::vector<int> guards_;
  std::map<int, std::int64_t> pinned_;         // by parameter
  std::map<std::string, std::int64_t> fixed_;  // sizes that are passed for a pinned parameter
};

}  // namespace evo
