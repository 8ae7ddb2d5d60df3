#include "mutators/analysis/rows/row_search.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention/attention_check.h"
#include "mutators/analysis/rows/row_trials.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr std::int64_t kUsualVector = 4;
constexpr std::size_t kMostTriedSettings = 16;
// What is no rows with these choices of sizes is none with others, and shall be left soon.
constexpr std::size_t kMostUnlike = 2, kMostUnlikeOfVectors = 8;
constexpr std::int64_t kMostTurnsOfGuesses = 200'000;

// Whether real numbers are combined at all, by an operator, a function, a shuffle or an atomic.
bool CombinesReals(const SyntaxTree& tree) {
  const auto is_real = [&](int node) {
    const std::string& type = tree.node(node).type;
    return type.find("float") != std::string::npos || type.find("half") != std::string::npos ||
           type.find("bfloat16") != std::string::npos;
  };
  for (int node = 0; node < static_cast<int>(tree.nodes().size()); ++node) {
    const std::string& kind = tree.node(node).kind_name;
    if (kind == "CallExpr") {
      const std::string_view callee = LibraryCallee(tree, node);
      for (const char* name : {"max", "min", "exp", "sqrt", "__shfl", "atomic", "log", "fma"})
        if (callee.find(name) != std::string_view::npos) return true;
      continue;
    }
    const auto& sides = tree.node(node).children;
    if (!IsAssignment(tree, node) || sides.size() != 2 || !is_real(sides[0])) continue;
    if (tree.Operator(node) != "=" || tree.Text(sides[1]).find(tree.Text(sides[0])) != std::string_view::npos) return true;
  }
  return false;
}

// Products on tensor cores and the like are no rows, and take long to run.
bool IsOtherThanRows(const SyntaxTree& tree) {
  const std::string& code = CodeOf(tree);
  return ContainsName(code, "wmma") || code.find("asm") != std::string::npos || ContainsName(code, "double") ||
         !CombinesReals(tree);
}

}  // namespace

bool RowSearch::Find() {
  if (IsOtherThanRows(tree_)) return false;
  if (!runs_.FindLaunches() || runs_.names().size() > kMostLaunchSizes) return Refuse(runs_.why());
  if (DescribeBuffers() && FindFirst()) return true;
  // Without a size, nothing else shows that it is meant to be rows.
  if (runs_.names().empty()) why_.clear();
  return false;
}

// The types of all buffers, and numbers for what launch lines pass as real numbers. In silence, for others.
bool RowSearch::DescribeBuffers() {
  double real = 0.07;
  for (const SourceRuns::Link& link : runs_.links()) {
    for (const auto& [parameter, buffer] : link.buffers) {
      const std::string pointee = PointedTo(tree_, parameter);
      const auto [known, fresh] = types_.try_emplace(buffer, pointee);
      if (!fresh && known->second != pointee) return false;
      if (pointee == "int" || pointee == "long" || pointee == "long long")
        integers_.insert(buffer);
      else if (pointee != "float" && pointee != "__half" && pointee != "__nv_bfloat16" && !runs_.IsWorkspace(buffer))
        return false;
    }
    for (const auto& [parameter, argument] : link.reals) {
      const auto names = argument.Names();
      if (names.empty()) continue;
      if (reals_.try_emplace(argument.text(), real).second) real += 0.21;
    }
  }
  return true;
}

LaunchTrial RowSearch::Trial(const LaunchRuns::Sizes& sizes) const {
  LaunchTrial trial{sizes, {}, {}, false, reals_, {}};
  for (const std::string& buffer : integers_) trial.chosen[buffer] = LabelsBelow(2);
  return trial;
}

// Sizes with which all launches run and leave what some forms leave.
bool RowSearch::FindFirst() {
  std::vector<TrialSizes::Units> units = UnitsInLaunches(context_, runs_.names());
  if (runs_.names().empty()) units = {{}};
  std::string refused;
  bool ran = false;
  std::set<std::int64_t> together;
  // Sizes that vectors divide are tried last.
  const auto divisors = UnitsOfDivisors(tree_, runs_.names());
  const bool of_vectors = ContainsName(CodeOf(tree_), "float4") || !divisors.empty();
  const std::size_t most_unlike = of_vectors ? kMostUnlikeOfVectors : kMostUnlike;
  const std::size_t suggested = units.size();
  std::size_t unlike = 0;  // runs that left something else
  for (std::size_t i = 0; i < std::min(units.size(), kMostTriedSettings); ++i) {
    sizes_ = TrialSizes(runs_.names(), units[i]);
    LaunchedRun run;
    const LaunchTrial trial = Trial(sizes_.Choice(0));
    if (runs_.Run(trial, run)) {
      // Rows shorter than a vector have no whole one.
      const bool idle =
          std::all_of(run.stored.begin(), run.stored.end(), [](const auto& buffer) { return buffer.second.empty(); });
      ran = ran || !idle;
      Learn(run);
      for (RowCandidates& guess : GuessesOf(trial.sizes, run)) {
        if (!Holds(guess, trial, run) || !HoldsFor(guess, Trial(sizes_.Choice(1)))) continue;
        guess_ = std::move(guess);
        return true;
      }
      if ((!idle && ++unlike >= most_unlike) || runs_.turns() > kMostTurnsOfGuesses) break;
    } else {
      if (refused.empty()) refused = runs_.why();
      if (runs_.is_final()) return Refuse(runs_.why());
      if (const std::int64_t each = runs_.misaligned(); each > 1 && together.insert(each).second) {
        for (auto& one : UnitsOfVectors(runs_.names(), each)) units.push_back(std::move(one));
      }
    }
    if (i + 1 != suggested) continue;
    units.insert(units.end(), divisors.begin(), divisors.end());
    if (CodeOf(tree_).find("4") != std::string::npos && together.insert(kUsualVector).second) {
      for (auto& one : UnitsOfVectors(runs_.names(), kUsualVector)) units.push_back(std::move(one));
    }
    for (auto& one : UnitsOfOne(context_, runs_.names(), seen_.knowledge.names)) units.push_back(std::move(one));
  }
  return Refuse(ran || refused.empty() ? kNoRows : refused);
}

std::vector<RowCandidates> RowSearch::GuessesOf(const LaunchRuns::Sizes& sizes, const LaunchedRun& run) const {
  RowsSeen seen;
  for (const auto& [buffer, elements] : run.read) {
    if (!runs_.IsWorkspace(buffer) && !integers_.contains(buffer))
      seen.inputs[buffer] = static_cast<std::int64_t>(elements.size());
  }
  for (const auto& [buffer, elements] : run.stored) {
    if (runs_.IsWorkspace(buffer) || elements.empty()) continue;
    seen.outputs[buffer] = static_cast<std::int64_t>(elements.size());
    if (run.filled.contains(buffer)) seen.filled.insert(buffer);
  }
  for (const std::string& buffer : integers_) {
    if (!run.stored.contains(buffer) || run.stored.at(buffer).empty()) seen.labels.push_back(buffer);
  }
  seen.types = types_;
  seen.sizes = sizes;
  return RowCandidatesIn(context_, runs_.links(), seen);
}

// Whether some candidates for each output leave what was left; the others go.
bool RowSearch::Holds(RowCandidates& guess, const LaunchTrial& trial, const LaunchedRun& run) const {
  return std::all_of(guess.of_outputs.begin(), guess.of_outputs.end(), [&](std::vector<RowKernelText>& candidates) {
    const std::string& output = candidates.front().stored.front().buffer.name;
    if (!run.stored.contains(output)) return false;
    KeepMatching(context_, runs_.buffers(), trial, run.stored.at(output), candidates);
    return !candidates.empty();
  });
}

bool RowSearch::HoldsFor(RowCandidates& guess, const LaunchTrial& trial) {
  LaunchedRun run;
  if (!runs_.Run(trial, run)) return Refuse(runs_.why());
  Learn(run);
  return Holds(guess, trial, run) || Refuse(kNoRows);
}

void RowSearch::Learn(const LaunchedRun& run) {
  seen_.knowledge.names.insert(run.knowledge.names.begin(), run.knowledge.names.end());
  seen_.knowledge.largest_number = std::max(seen_.knowledge.largest_number, run.knowledge.largest_number);
  for (const auto& [number, seen] : run.compared) {
    auto& [less, more] = seen_.compared[number];
    less = less || seen.first, more = more || seen.second;
  }
}

bool RowSearch::StillHolds(const LaunchTrial& trial, const std::string& why) {
  LaunchedRun run;
  if (!runs_.Run(trial, run)) return Refuse(why + ": " + runs_.why());
  Learn(run);
  RowCandidates kept = guess_;
  if (!Holds(kept, trial, run)) return Refuse(why + ", what its kernels leave is something else");
  guess_ = std::move(kept);
  return true;
}

}  // namespace evo
