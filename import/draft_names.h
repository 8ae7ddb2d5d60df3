#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/device_text.h"
#include "import/draft_builder.h"

namespace evo {

inline constexpr std::int64_t kMostThreads = 1024;       // of a block
inline constexpr std::int64_t kUnguardedMultiple = 128;  // of sizes that the kernels do not compare with anything

// Whether a name is one that people give to what may be tuned: BLOCK_SIZE, TILE, BM, threads_per_block.
bool LooksTunable(const std::string& name);

bool IsSquareBlock(const std::vector<TakenLaunch>& launches, const std::string& label);
bool IsPointerOfKernels(const std::vector<TakenLaunch>& launches, const std::string& name);

// Decides which names of the host become sizes and which parameters, and what they are called.
class DraftNames {
 public:
  DraftNames(const SourceProgram& program, HostCode& host, const std::vector<TakenLaunch>& launches,
             const std::vector<TakenLoop>& loops, const DeviceText& device, Answers& answers);

  // What the host allocates, for the task's arguments and for buffers between the launches.
  struct Allocations {
    std::vector<HostExpression> all;
    std::vector<HostExpression> of_arguments;
  };
  // Fills sizes, parameters, constraints, moved and notes of the draft.
  void Decide(const Allocations& allocations, TaskDraft& draft);

  // The expression in the draft's names.
  std::string Text(const HostExpression& expression) const;
  HostExpression Named(const HostExpression& expression) const;
  // The same with every parameter and constant as its number.
  HostExpression InSizes(const HostExpression& expression, const TaskDraft& draft) const;
  bool IsSize(const std::string& name) const;
  // The expression where what the host rounds up to a multiple, ceil_div(n, 512) * 512, is n: cases have multiples only.
  HostExpression Unpadded(const HostExpression& expression) const;
  // Adds a size that a kernel's parameter stands for. Returns its name.
  std::string AddSize(const std::string& name, std::optional<std::int64_t> value, bool ragged, TaskDraft& draft);

 private:
  // What is in the shape of no argument may be a parameter: the size of a workspace may depend on one.
  bool IsParameter(const std::string& label, const std::set<std::string>& in_blocks,
                   const std::set<std::string>& of_arguments) const;
  bool IsWrittenInKernels(std::int64_t value) const;
  bool IsInSharedExtent(const std::string& label) const;
  bool IsConstant(const std::string& label, const std::set<std::string>& in_blocks, const std::set<std::string>& of_arguments,
                  bool other_sizes) const;
  bool DecidesAShape(const std::string& label, const std::set<std::string>& in_blocks,
                     const std::set<std::string>& of_arguments) const;
  std::string ParameterName(const std::string& label) const;
  // What a number that the host does not say is taken for.
  std::int64_t UnknownParameter(const std::string& name, bool square);
  void AddParameter(const std::string& label, TaskDraft& draft);
  void AddConstraints(TaskDraft& draft) const;
  bool IsDividedAmongTurns(const TakenLaunch& one, const std::string& label) const;
  bool IsRagged(const std::string& label) const;
  std::int64_t Multiple(const std::string& label, std::int64_t value) const;
  void FindPadded(TaskDraft& draft);
  bool IsNameOfDeviceCode(const std::string& name) const;
  bool Mentions(std::string_view word, const std::string& name, int depth) const;

  const SourceProgram& program_;
  HostCode& host_;
  const std::vector<TakenLaunch>& launches_;
  const std::vector<TakenLoop>& loops_;
  const DeviceText& device_;
  Answers& answers_;
  std::map<std::string, std::string> names_;       // of the draft, by label
  std::map<std::string, std::int64_t> constants_;  // labels that stand for the same number in every case
  std::map<std::string, std::int64_t> padded_;     // labels that kernels get rounded up, and to multiples of what
  std::set<std::string> sizes_;
  std::int64_t most_ = kMostThreads;  // of a parameter's values
};

// Whether launches have so many threads, whatever the size is, that they take so many elements without a loop that goes on to
// their number.
bool IsTakenByThreads(const SourceProgram& program, const HostCode& host, const std::vector<TakenLaunch>& launches,
                      const std::string& label, std::int64_t value);

}  // namespace evo
