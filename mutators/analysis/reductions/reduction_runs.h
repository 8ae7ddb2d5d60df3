#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/analysis/block_runs/lockstep_run.h"
#include "mutators/analysis/reductions/reduction.h"

namespace evo {

// Finds which elements the blocks of a reduction take, by running the kernel on numbers: for all values of the parameters that it
// names, for several numbers of elements and of blocks.
class ReductionRuns {
 public:
  // What the runs say together.
  struct Seen {
    struct Output {
      bool own_place = true;
      bool once = true;  // one thread of a block stores
    };
    // A part of what is stored that has elements.
    struct Part {
      std::uint32_t kinds = 0;  // of elements, as bits
      bool always_initial = true;
      std::set<std::string> combines, initials, types;
    };
    Reduction::Blocks blocks = Reduction::Blocks::kShareAll;
    std::int64_t part = 0;
    std::int64_t turn = 0;          // of kShareAll, if they take turns: the elements of one
    std::map<int, Output> outputs;  // by statement
    std::map<int, Part> parts;      // by expression
    std::set<int> declarations;     // that the outputs need, computed of parts
  };

  // `found` has the kernel and its launch, and gets the bound, the blocks, the part and the parameters. The arguments outlive the
  // object.
  ReductionRuns(const MutationContext& context, Reduction& found, const ReductionElements& elements)
      : context_(context), tree_(context.tree), found_(found), elements_(elements) {}

  // What a block takes in a turn, as an expression of the source; empty if they take no turns, or others for other parameters.
  const std::string& turn() const { return turn_; }
  // False if they do not take every element exactly once; why() says more.
  bool Classify();
  const std::string& why() const { return why_; }
  const Seen& seen() const { return seen_; }

 private:
  bool Refuse(std::string why);
  bool IsNamed(std::string_view name) const;
  void FindSettings();
  std::int64_t ThreadsOf(const Parameters& setting) const;
  bool ClassifyWith(const std::vector<std::pair<std::string, int>>& bounds);
  bool ClassifyAll();
  bool ClassifyUnbounded(const Parameters& setting, std::int64_t threads);
  bool ClassifyOne(const Parameters& setting, std::int64_t threads);
  std::int64_t TurnOf(const Parameters& setting, std::int64_t threads);
  void PinPart();
  bool Add(const BlockRun& run, std::int64_t block);
  // What a block has taken, by the part of the result that has it.
  using Taken = std::map<int, Partial>;
  bool AreElements(const Taken& taken, std::int64_t begin, std::int64_t end) const { return AreElements(taken, {{begin, end}}); }
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  bool AreElements(const Taken& taken, const Ranges& ranges) const;
  std::int64_t Turns() const;
  std::optional<Taken> Run(const Parameters& setting, std::int64_t threads, std::int64_t bound, std::int64_t blocks,
                           std::int64_t block);

  const MutationContext& context_;
  const SyntaxTree& tree_;
  Reduction& found_;
  const ReductionElements& elements_;
  std::vector<Parameters> settings_;
  Parameters named_;  // present values of the parameters that the kernel names
  Seen seen_;
  bool varies_ = false;
  std::string turn_;
  std::string why_;
};

}  // namespace evo
