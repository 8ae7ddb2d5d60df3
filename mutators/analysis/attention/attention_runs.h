#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/attention/attention_check.h"
#include "mutators/analysis/attention/attention_packing.h"
#include "mutators/analysis/grid_runs/launch_sizes.h"
#include "mutators/analysis/thread_runs/thread_run.h"
#include "mutators/mutator.h"

namespace evo {

// How a kernel's threads get their rows: by a variable `blockIdx.a * size + threadIdx.b`, with its axes, or by one that has the
// same value in threads which share a row.
struct RowIndex {
  int declaration = -1;
  std::size_t axis = 0;
  std::size_t block_axis = 0;
  // Where the threads of a block work together: their rows in the block, how many there are, and the block's size.
  std::vector<std::int64_t> shared_rows;
  std::int64_t extent = 0;
  std::vector<std::int64_t> block;
  // If the variable is `head * length + row`: the length, as a form and as the setting's parameter.
  FormPointer flat_length;
  bool together() const { return !shared_rows.empty(); }
};

// Elements of buffers of integers in the two settings, such as numbers of keys.
inline constexpr std::int64_t kLoaded[] = {4, 3};

// The ways in which the threads of a kernel may get their rows, the likely ones first.
std::vector<RowIndex> RowIndicesOf(const MutationContext& context, const LaunchDirective& launch, int kernel);

// Runs threads of a kernel with numbers for the sizes that its launch line passes. There are two settings, 0 and 1, in which all
// sizes are from 5 to 13 and no two are the same. Of a quotient of two sizes, such as the query heads of a group, that would be
// 0, one is larger.
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
  // The same where sizes that decide about keys, but not about rows, are 0, and so is each number of keys in memory.
  ThreadTrace RunWithoutKeys(std::int64_t row, std::int64_t rows, const AttentionRoles& roles);
  // One thread, without forms; these elements of buffers have these values.
  ThreadTrace RunChosen(std::size_t number, std::int64_t row, std::map<int, BufferContents> chosen);
  // The same where queries are one and keys this number: all scores are the same, such as minus infinity.
  ThreadTrace RunWithKeys(std::int64_t row, const AttentionRoles& roles, double keys);
  // From now on the parts of a buffer are buffers of their own in traces, and all elements of a buffer of integers this number.
  void Split(const AttentionPacking& packing) { given_.packing = packing; }
  void Fill(int buffer, double number) { given_.filled = {{buffer, number}}; }
  // From now on sizes that change stand for so many keys, where elements of a buffer of integers are this number less.
  void LoadFewer(std::int64_t number) { given_.keys_beyond_loaded = number; }
  // From now on all runs keep forms: without them expressions of the row and the key look like factors of data.
  void KeepForms() { given_.forms = true; }
  // The first row that stores nothing; nullopt if all do.
  std::optional<std::int64_t> RowsOf(std::size_t number);
  // Of rows with a flat index: the same of heads, in which all rows below the length store something.
  std::optional<std::int64_t> HeadsOf(std::size_t number);
  // One thread of a head, without forms.
  ThreadTrace RunHead(std::size_t number, std::int64_t head, std::int64_t row);
  // The number of rows of a head.
  std::int64_t LengthOf(std::size_t number);
  // The row as it stands in forms: a factor of what moves an index by one row, and the rest of the block's row.
  AffineForm RowForm(std::int64_t row) const;
  int row_symbol() const;
  // The kernel's integers, and what the launch line passes for them.
  const std::vector<std::pair<int, Expression>>& arguments() const { return sizes_.arguments(); }
  // What these integers are in a setting.
  std::map<int, std::int64_t> IntegersOf(std::size_t number) {
    return SettingOf(number, 0, {}, 0).value_or(ThreadSetting{}).integers;
  }
  // The sizes that decide, in the first setting, that `rows` is the first row without work or that `row` reads so many keys.
  std::set<std::string> Driving(std::int64_t rows, std::int64_t row, const AttentionRoles& roles, std::int64_t keys);

  // Conditions on which the kernel returns at once, in all threads or in none.
  const std::vector<int>& guards() const { return guards_; }
  // Whether these conditions let a parameter have one value only.
  bool IsPinned(int parameter) const { return pinned_.parameters.contains(parameter); }
  const ThreadRun& threads() const { return run_; }

 private:
  void FindPinned();
  void Pin(int condition);
  void FindFixed();
  std::optional<ThreadSetting> SettingOf(std::size_t number, std::int64_t row, const std::set<std::string>& changed,
                                         std::int64_t to, std::int64_t head = 1);
  ThreadTrace RunSetting(const ThreadSetting& setting, std::int64_t row);
  ThreadTrace RunTogether(const ThreadSetting& setting, std::int64_t row);
  void FindScratch(const LaunchDirective& launch);
  void FindBytes();
  void FindEnlarged();
  std::int64_t LargerSize() const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  RowIndex row_;
  ThreadRun run_;
  LaunchSizes sizes_;
  std::string refusal_;
  std::vector<int> guards_;
  // Parameters that have one value only, sizes that are passed for them, and sizes that are three times as large as they would
  // be, since others divide them.
  struct Pinned {
    std::map<int, std::int64_t> parameters;
    std::map<std::string, std::int64_t> sizes;
    std::set<std::string> enlarged;
  };
  Pinned pinned_;
  // What all runs have: parameters that point to scratch memory, or to bytes, and what the functions above say.
  struct Given {
    std::set<int> scratch, bytes;
    AttentionPacking packing;
    bool forms = false;
    std::map<int, double> filled;
    std::int64_t keys_beyond_loaded = 0;
  };
  Given given_;
  // What the threads of the last block did.
  struct Block {
    std::vector<ThreadTrace> traces;
    ThreadSetting setting;
  };
  Block last_;
};

}  // namespace evo
